import { describe, expect, it } from 'vitest';
import { audited as of } from './audit-subjects.service.js';

describe('audited', () => {
  it('names what the path names', () => {
    const params = {
      appId: 'app',
      versionId: 'v1',
      systemResourceId: 'system',
      systemId: 'x',
      toolId: 'tool',
    };
    expect(of(params)).toEqual({
      appId: 'app',
      appVersionId: 'v1',
      systemResourceId: 'system',
      toolId: 'tool',
    });
  });

  it('has no system and no tool where the path has none', () => {
    expect(of({ appId: 'app', versionId: 'v1' })).toMatchObject({ systemResourceId: null, toolId: null });
  });

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
