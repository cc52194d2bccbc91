/** Permissions built into the service. */
export const PERMISSION_NAMES = [
  'integration-management',
  'application-delivery',
  'process-read',
  'process-administration',
  'process-data',
  'workflow-test',
  'tool-call',
  'tool-use',
] as const;
