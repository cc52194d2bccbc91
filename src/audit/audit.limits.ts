/** Limits of the audit log. */
export const auditLimits = {
  /** Maximum number of denials recorded for one caller per minute. The request log has all refused calls. */
  denialsPerMinute: 60,
  /** Maximum bytes of details in one audit event. Of a large synchronisation, the rest is only counted. */
  detailsBytes: 32_768,
};
