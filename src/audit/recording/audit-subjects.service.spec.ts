import { describe, expect, it } from 'vitest';
import { subjectInPath } from './audit-subjects.service.js';

describe('subjectInPath', () => {
  it('truncates ids, which are not validated yet, to the width of their columns', () => {
    const long = 'x'.repeat(1_000);
    const cut = 'x'.repeat(64);
    expect(subjectInPath({ appId: long, versionId: long, systemResourceId: long, toolId: long })).toEqual({
      appId: cut,
      appVersionId: cut,
      systemResourceId: cut,
      toolId: cut,
    });
  });
});
