import { apiRoutes } from '../../platform/http/api-routes.js';
import { ChangesPageDto, ScanDetailsDto, ScansPageDto } from './history.dto.js';
import { CHANGES_EXAMPLE, DISCOVERY_EXAMPLE, SCAN_EXAMPLE, SCANS_EXAMPLE } from './discovery.examples.js';
import { DiscoveryResultDto } from '../model/discovery-result.dto.js';

const DENIED = { 403: 'Insufficient permissions' };

export const DiscoveryApi = apiRoutes([DENIED], {
  discoverPlatform: {
    summary: 'Force a platform rescan',
    description:
      'Looks at every component of the platform now and answers when all have been checked or their time is over. The answer ' +
      'comes from a scan that began after the request; callers of the same moment share one. A component that is down is part of ' +
      'the answer, never an error. `newServicesFound` and `configurationChanges` compare with the last completed scan. Each issue ' +
      'has exactly one recommendation. Any valid token will do, unless the deployment asks for a permission (`DISCOVERY_PERMISSION`).',
    answer: { type: DiscoveryResultDto, example: DISCOVERY_EXAMPLE, description: 'What the scan found.' },
  },
  listScans: {
    summary: 'List scans',
    description:
      'Extension of the contract. Completed scans, newest first, as many as the deployment keeps. Follow `next` until it is null.',
    answer: { type: ScansPageDto, example: SCANS_EXAMPLE, description: 'A page of scans.' },
  },
  getScan: {
    summary: 'Get a scan with its result',
    description: 'Extension of the contract. `result` is what the callers of that scan were answered.',
    answer: { type: ScanDetailsDto, example: SCAN_EXAMPLE, description: 'The scan.' },
    errors: [{ 404: 'Scan not found.' }],
  },
  listComponentChanges: {
    summary: 'List changes of components',
    description:
      'Extension of the contract. What a scan found different from the scan before it, newest first: components that came and ' +
      'went, whose configuration changed, and whose status did. Follow `next` until it is null.',
    answer: { type: ChangesPageDto, example: CHANGES_EXAMPLE, description: 'A page of changes.' },
  },
});
