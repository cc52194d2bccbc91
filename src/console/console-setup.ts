import type { RequestHandler } from 'express';
import type { IssuerEndpoints, TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import type { Env } from '../platform/config/env.js';
import { ConsoleFiles } from './console-files.js';

/** Base path of the console. */
const CONSOLE = '/console';
/** Paths below the base path that are API routes and not pages. */
const API_PATH = /^\/console\/(settings$|evaluation\/)/;
/** Redirect target of silent sign-in, which the console loads in a frame to check whether the user is still signed in. */
const SILENT_PATH = '/console/silent';

/** Returns the public paths of the console, which needs no token until a user signs in. */
export function consolePaths(env: Env): readonly string[] {
  return env.get('CONSOLE') ? [CONSOLE, `${CONSOLE}/*`] : [];
}

/** Express middleware that redirects browsers from the root to the console. Clients that accept JSON as readily as HTML are not browsers. */
export const redirectToConsole: RequestHandler = (request, response, next) => {
  if (isRead(request.method) && request.path === '/' && request.accepts(['json', 'html']) === 'html') {
    response.redirect(`${CONSOLE}/`);
  } else {
    next();
  }
};

/**
 * Express middleware that serves the built console. All pages are one document, whose script renders the page for the path. Passes
 * on requests for missing files.
 */
export function serveConsole({ endpoints }: TrustedIssuer): RequestHandler {
  const files = ConsoleFiles.load();
  return async (request, response, next) => {
    const { path } = request;
    if (
      !isRead(request.method) ||
      !(path === CONSOLE || path.startsWith(`${CONSOLE}/`)) ||
      API_PATH.test(path)
    ) {
      next();
      return;
    }
    const file = files.find(path.slice(CONSOLE.length + 1));
    if (file === undefined) {
      next();
    } else if (path === CONSOLE) {
      response.redirect(`${CONSOLE}/`);
    } else {
      const ancestors = path === SILENT_PATH ? "'self'" : "'none'";
      response.setHeader('Content-Security-Policy', policyOf(endpoints, ancestors));
      await file.send(request, response);
    }
  };
}

/**
 * Returns a Content-Security-Policy that allows the console's own files, this service, and the issuer where users sign in. bpmn-js
 * embeds its font and logo as `data:` URLs.
 */
function policyOf({ connectOrigins, frameOrigins }: IssuerEndpoints, ancestors: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    ['connect-src', "'self'", ...connectOrigins].join(' '),
    ['frame-src', "'self'", ...frameOrigins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
