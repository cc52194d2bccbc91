import { describe, expect, it } from 'vitest';
import { audited as of } from './audit-subjects.service.js';

describe('audited', () => {
  it('cuts ids that nobody has checked yet to what is stored', () => {
    const long = 'x'.repeat(1_000);
    const cut = 'x'.repeat(64);
    expect(of({ appId: long, versionId: long, systemResourceId: long, toolId: long })).toEqual({
      appId: cut,
      appVersionId: cut,
      systemResourceId: cut,
      toolId: cut,
    });
  });
});
