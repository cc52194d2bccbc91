import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet, { type HelmetOptions } from 'helmet';

const HSTS_MAX_AGE_SECONDS = 31_536_000;
const DOCS_PATH = /^\/docs(\/|$)/;

type Headers = readonly (readonly [string, string])[];

/** Express middleware that sets the security headers of every response and forbids caching. */
export function securityHeaders(): RequestHandler {
  const forData = headersOf({ defaultSrc: ["'none'"], frameAncestors: ["'none'"] });
  // The page of the API documentation needs its own scripts, styles and images, and calls this origin.
  const forDocs = headersOf({
    defaultSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    frameAncestors: ["'none'"],
  });
  return (request, response, next) => {
    for (const [name, value] of DOCS_PATH.test(request.path) ? forDocs : forData) {
      response.setHeader(name, value);
    }
    next();
  };
}

/** Returns the headers that helmet sets. They do not depend on the request, so they are computed once. */
function headersOf(directives: Record<string, string[]>): Headers {
  const options: HelmetOptions = {
    contentSecurityPolicy: { useDefaults: false, directives },
    strictTransportSecurity: { maxAge: HSTS_MAX_AGE_SECONDS, includeSubDomains: true },
    referrerPolicy: { policy: 'no-referrer' },
  };
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  const headers = Object.entries(response.getHeaders()).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return [...headers, ['Cache-Control', 'no-store']];
}
