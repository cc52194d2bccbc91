import type { RequestHandler } from 'express';
import type { IssuerEndpoints, TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import type { Env } from '../platform/config/env.js';
import { ConsoleFiles } from './console-files.js';

/** Where the console is. */
const CONSOLE = '/console';
/** Below it, what is no page: routes of their own. */
const API_PATH = /^\/console\/(settings$|evaluation\/)/;
/** In a frame of the console itself the issuer answers whether a person is still signed in. */
const SILENT_PATH = '/console/silent';

/** Paths below which nobody needs a token: the console is a page like any other until a person signs in. */
export function consolePaths(env: Env): readonly string[] {
  return env.get('CONSOLE') ? [CONSOLE, `${CONSOLE}/*`] : [];
}

/** Express middleware: a browser that asks for the root of the service is led to the console. Who takes anything, or JSON as gladly, is none. */
export const leadToConsole: RequestHandler = (request, response, next) => {
  if (isRead(request.method) && request.path === '/' && request.accepts(['json', 'html']) === 'html') {
    response.redirect(`${CONSOLE}/`);
  } else {
    next();
  }
};

/**
 * Express middleware that serves the built console. Its pages are one document, whose script finds out by the path what to show.
 * It lets pass what it has not.
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
 * What the page may load and call: files of its own, this service, and the issuer at which people sign in. bpmn-js brings its font
 * and its mark as data.
 */
function policyOf({ called, shown }: IssuerEndpoints, ancestors: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    ['connect-src', "'self'", ...called].join(' '),
    ['frame-src', "'self'", ...shown].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
