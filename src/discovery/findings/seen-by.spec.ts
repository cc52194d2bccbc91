import { describe, expect, it } from 'vitest';
import type { DiscoveryResult } from '../model/scan.types.js';
import { seenBy } from './seen-by.js';

const entry = (name: string) =>
  ({ name, status: 'healthy', endpoint: 'https://example.com', lastHealthCheck: '' }) as const;
const RESULT: DiscoveryResult = {
  scanTimestamp: '',
  totalServices: 0,
  healthyServices: 0,
  unhealthyServices: 0,
  services: {},
  infrastructure: {},
  externalIntegrations: {
    'mcp-declared': entry('declared by the operator'),
    'mcp-loans-a': entry('loans/a'),
    'mcp-cards-a': entry('cards/a'),
    'token-shared': entry('Token endpoint'),
    constructor: entry('declared by the operator'),
  },
  summary: {
    scanDuration: '1ms',
    newServicesFound: 0,
    configurationChanges: 4,
    issuesDetected: 5,
    recommendations: [
      'externalIntegrations.mcp-cards-a: The connection was refused. Start it.',
      'externalIntegrations.mcp-loans-a: The connection was refused. Start it.',
      'externalIntegrations.mcp-x, externalIntegrations.mcp-declared: One endpoint has several keys.',
      'Source registered: externalIntegrations.mcp-cards-b was skipped: the key is taken.',
      'services.a: It raised an alarm.',
    ],
  },
  registered: { 'mcp-loans-a': ['loans'], 'mcp-cards-a': ['cards'], 'token-shared': ['loans', 'cards'] },
};
const LOANS = { ids: new Set(['loans']), patterns: [] };

describe('seenBy', () => {
  it('returns everything to callers with the permission for all applications', () => {
    expect(seenBy('all', RESULT)).toBe(RESULT);
  });

  it('hides components that only other applications registered, and recommendations about them', () => {
    const { externalIntegrations, summary } = seenBy(LOANS, RESULT);
    expect(Object.keys(externalIntegrations)).toEqual([
      'mcp-declared',
      'mcp-loans-a',
      'token-shared',
      'constructor',
    ]);
    expect(summary).toMatchObject({ configurationChanges: 4, issuesDetected: 3 });
    expect(summary.recommendations.join()).not.toContain('cards');
  });
});
