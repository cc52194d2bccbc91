/** Name of the service in messages to others. */
export const SERVICE_NAME = 'svc-platform';
/** The version of package.json. */
export const SERVICE_VERSION = '1.0.0';
