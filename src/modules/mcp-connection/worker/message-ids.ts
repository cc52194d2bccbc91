import type { RequestId } from '@modelcontextprotocol/client';

/** Whether an id, or a token of progress, is that of a request. Servers send numbers back as texts, and clients take them. */
export function isSameId(id: unknown, request: RequestId | undefined): boolean {
  return request !== undefined && (id === request || Number(id) === Number(request));
}
