const HIGH_LIMIT = '1000000';

/**
 * Production settings with caller limits high enough never to reject. They are still counted, since counting is part of the
 * measurement.
 */
export const MEASURED_SERVICE = {
  LOG_LEVEL: 'info',
  RATE_LIMIT_ADDRESS_PER_MINUTE: HIGH_LIMIT,
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: HIGH_LIMIT,
  'httpLimits.callerRequests': HIGH_LIMIT,
  'httpLimits.callerAtWork': HIGH_LIMIT,
};
