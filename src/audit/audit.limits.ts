/** Bounds of the audit log. */
export const auditLimits = {
  /** Refusals to one caller (of calls, and of libraries) that are put into the audit log in a minute; the request log has every refused call. */
  denialsPerMinute: 60,
  /** Bytes of facts in one audit event; of a large synchronisation the rest is counted, not told. */
  detailsBytes: 32_768,
};
