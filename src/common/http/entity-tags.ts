const EACH_OPAQUE_TAG = /"[^"]*"/g;

/**
 * Entity tags of a header, with their quotes and without `W/`: what the weak comparison looks at (RFC 9110, section 8.8.3.2).
 * @param text an entity tag, or a list of them
 */
export function opaqueTags(text: string): readonly string[] {
  return text.match(EACH_OPAQUE_TAG) ?? [];
}
