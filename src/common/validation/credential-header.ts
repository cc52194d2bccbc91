/** A name of RFC 9110, section 5.1. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Headers that the service or the protocol sets, that belong to the connection, or that say who a caller is to a proxy; and names that objects have. */
const FORBIDDEN =
  /^(host|connection|keep-alive|te|trailers?|transfer-encoding|upgrade|http2-settings|expect|via|forwarded|date|range|origin|referer|user-agent|cache-control|pragma|last-event-id|traceparent|tracestate|baggage|set-cookie2?|cookie2?|alt-used|x-http-method(-override)?|x-method-override)$|^(content|mcp|accept|proxy|sec|if|access-control|x-forwarded)-|^accept$|^x-real-ip$|^x-(original|rewrite)-|^(__proto__|constructor|prototype)$/i;

/** Whether a header may carry an API key. */
export function isApiKeyHeader(name: unknown): boolean {
  return typeof name === 'string' && TOKEN.test(name) && !FORBIDDEN.test(name);
}

/** Whether a text is the name of an authentication scheme (RFC 9110, section 11.1). */
export function isScheme(scheme: unknown): boolean {
  return typeof scheme === 'string' && TOKEN.test(scheme);
}
