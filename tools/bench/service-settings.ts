const HIGH_LIMIT = '1000000';

/** As in production, with limits of callers that are high enough never to refuse, and still counted: they are part of what is measured. */
export const MEASURED_SERVICE = {
  LOG_LEVEL: 'info',
  RATE_LIMIT_ADDRESS_PER_MINUTE: HIGH_LIMIT,
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: HIGH_LIMIT,
  'httpLimits.callerRequests': HIGH_LIMIT,
  'httpLimits.callerAtWork': HIGH_LIMIT,
};
