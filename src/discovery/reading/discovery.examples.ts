import { exampleOf } from '../../platform/openapi/answer-fields.decorators.js';
import { ScanSummaryDto } from '../model/discovery-result.dto.js';
import { ScanDto } from './history.dto.js';

const CHECKED = { lastHealthCheck: '2026-01-31T10:20:31.000Z' };
const REFUSED = 'The connection was refused.';

export const DISCOVERY_EXAMPLE = {
  scanTimestamp: '2026-01-31T10:20:32.423Z',
  totalServices: 3,
  healthyServices: 2,
  unhealthyServices: 1,
  services: {
    documentManagement: {
      name: 'Document Management',
      version: '4.1.0',
      status: 'healthy',
      endpoint: 'https://documents.example.com',
      capabilities: ['search', 'upload'],
      ...CHECKED,
    },
    reporting: {
      name: 'Reporting',
      version: '2.3.1',
      status: 'unhealthy',
      endpoint: 'https://reporting.example.com',
      capabilities: ['export'],
      ...CHECKED,
      error: REFUSED,
    },
    svcPlatform: {
      name: 'svc-platform',
      version: '1.0.0',
      status: 'healthy',
      endpoint: 'http://localhost:3000',
      capabilities: ['mcp-integration', 'platform-discovery', 'process-runtime'],
      ...CHECKED,
    },
  },
  infrastructure: {
    cache: {
      type: 'redis',
      version: '7.0.15',
      status: 'healthy',
      memory: { used: '943.8KB', available: '64MB' },
      ...CHECKED,
    },
    database: {
      type: 'mysql',
      version: '8.0.36',
      status: 'healthy',
      connections: { active: 5, idle: 10, max: 100 },
      ...CHECKED,
    },
    messages: { type: 'kafka', version: '3.7.0', status: 'healthy', brokers: 3, topics: 25, ...CHECKED },
  },
  externalIntegrations: {
    objectStorage: {
      name: 'Object storage',
      status: 'healthy',
      endpoint: 'https://s3.example.com',
      buckets: 5,
      ...CHECKED,
    },
  },
  summary: exampleOf(ScanSummaryDto),
};

const SCAN = exampleOf(ScanDto, { totalServices: 3, healthyServices: 2 });

export const SCANS_EXAMPLE = { scans: [SCAN], next: null };

export const SCAN_EXAMPLE = { ...SCAN, result: DISCOVERY_EXAMPLE };

export const CHANGES_EXAMPLE = {
  changes: [
    {
      id: 1_700_001,
      scanId: 17,
      noticedAt: DISCOVERY_EXAMPLE.scanTimestamp,
      map: 'services',
      key: 'reporting',
      event: 'unhealthy',
      status: 'unhealthy',
      error: REFUSED,
    },
    {
      id: 1_700_000,
      scanId: 17,
      noticedAt: DISCOVERY_EXAMPLE.scanTimestamp,
      map: 'services',
      key: 'documentManagement',
      event: 'changed',
      status: 'healthy',
      error: null,
    },
  ],
  next: null,
};
