/** Limits of the MCP endpoints. */
export const gatewayLimits = {
  /** Builds whose tools are kept in memory. */
  cachedBuilds: 20,
  /** Base64 bytes of the images of one result. */
  imageBytes: 1_048_576,
  /** Milliseconds between two looks for changes while clients listen for them. */
  pollMs: 1_000,
  /** Open subscriptions of one application on one replica. */
  subscriptions: 256,
};
