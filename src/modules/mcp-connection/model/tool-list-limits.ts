/** Bounds of one foreign JSON document. */
export interface SchemaLimits {
  /** UTF-8 bytes as JSON. */
  maxBytes: number;
  /** Nesting of objects and arrays. */
  maxDepth: number;
  /** Objects and arrays in all. */
  maxNodes: number;
}

/** Bounds of one tool list. */
export interface ToolListLimits extends SchemaLimits {
  maxPages: number;
  /** Entries over all pages, bad ones included. */
  maxTools: number;
}
