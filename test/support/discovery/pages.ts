import type { RequestListener } from 'node:http';

/** One page of a service of the tests; a body that is no text is sent as JSON. */
export interface Page {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers GET requests of these paths, query left aside, and 404 for all others; pages may change while it runs. */
export function pages(byPath: Record<string, Page>): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const { status = 200, headers, body = '' } = byPath[path] ?? { status: 404 };
    const isText = typeof body === 'string';
    const type = isText ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };
}
