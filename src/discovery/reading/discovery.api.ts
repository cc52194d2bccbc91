import { apiRoutes } from '../../platform/http/api-routes.js';
import { ChangesPageDto, ScanDetailsDto, ScansPageDto } from './history.dto.js';
import { CHANGES_EXAMPLE, DISCOVERY_EXAMPLE, SCAN_EXAMPLE, SCANS_EXAMPLE } from './discovery.examples.js';
import { DiscoveryResultDto } from '../model/discovery-result.dto.js';

const DENIED = { 403: 'Insufficient permissions' };

export const DiscoveryApi = apiRoutes([DENIED], {
  discoverPlatform: {
    summary: 'Force a platform rescan',
    description:
      'Checks every component of the platform now, and responds when all have been checked or their time is over. The result ' +
      'comes from a scan that began after the request; concurrent callers share one. A component that is down is part of ' +
      'the result, never an error. `newServicesFound` and `configurationChanges` compare with the last completed scan. Each issue ' +
      'has exactly one recommendation. Requires any valid token, unless the deployment requires a permission (`DISCOVERY_PERMISSION`).',
    answer: { type: DiscoveryResultDto, example: DISCOVERY_EXAMPLE, description: 'The result of the scan.' },
  },
  listScans: {
    summary: 'List scans',
    description:
      'Extension of the contract. Completed scans, newest first, within the history that is kept. Follow `next` until it is null.',
    answer: { type: ScansPageDto, example: SCANS_EXAMPLE, description: 'A page of scans.' },
  },
  getScan: {
    summary: 'Get a scan with its result',
    description: 'Extension of the contract. `result` is the response that callers of that scan received.',
    answer: { type: ScanDetailsDto, example: SCAN_EXAMPLE, description: 'The scan.' },
    errors: [{ 404: 'Scan not found.' }],
  },
  listComponentChanges: {
    summary: 'List changes of components',
    description:
      'Extension of the contract. Differences between consecutive scans, newest first: components that were added or removed, ' +
      'or whose configuration or status changed. Follow `next` until it is null.',
    answer: { type: ChangesPageDto, example: CHANGES_EXAMPLE, description: 'A page of changes.' },
  },
});
