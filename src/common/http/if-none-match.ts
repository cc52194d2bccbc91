import type { Request } from 'express';
import { opaqueTags } from './entity-tags.js';
import { headerOf } from './request-header.decorator.js';

/**
 * Whether `If-None-Match` of a request names an entity tag, in the weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). `*` names none here.
 * `Cache-Control: no-cache`, which `fetch` adds to such a request by itself, is for caches: it asks for what is stored now, and that was read.
 */
export function namesTag(request: Pick<Request, 'headers'>, etag: string): boolean {
  const sent = headerOf(request, 'If-None-Match');
  const [current] = opaqueTags(etag);
  return sent !== undefined && opaqueTags(sent).some((tag) => tag === current);
}
