import type { NextFunction, Request, RequestHandler, Response } from 'express';
import passport from 'passport';
import { AuthenticationRequiredError, KeySourceUnavailableError } from './auth.errors.js';
import { bearerToken, countAuthorizationHeaders } from './bearer-token.js';
import { setPrincipal, type Principal } from '../user/principal.js';
import type { JwtStrategy } from './jwt.strategy.js';

/** Paths anybody may read: health probes, metrics and the API documentation. A final `/*` covers all paths below. */
export const PUBLIC_PATHS: readonly string[] = [
  '/livez',
  '/readyz',
  '/metrics',
  '/docs',
  '/docs/*',
  '/docs-json',
  '/docs-yaml',
];

/**
 * Express middleware that recognises the caller. It must run before any body parser, so that nobody makes the service
 * parse a body without a valid token: 401 comes before 400. It must run after the CORS middleware, which answers
 * preflights. Fails with AuthenticationRequiredError, KeySourceUnavailableError or IntrospectionUnavailableError; otherwise `principalOf(request)` is
 * set.
 * @param publicPaths paths that need no token, compared as they are; see PUBLIC_PATHS
 */
export function bearerMiddleware(
  strategy: JwtStrategy,
  publicPaths: readonly string[] = PUBLIC_PATHS,
): RequestHandler {
  // A registry of its own: the global one of passport is shared by every application of the process.
  const authenticator = new passport.Passport();
  authenticator.use('jwt', strategy);
  const isPublic = pathMatcher(publicPaths);

  const authenticate = (request: Request, response: Response): Promise<Principal> =>
    new Promise((resolve, reject) => {
      const callback = (error: unknown, principal?: Principal | false, info?: unknown): void =>
        principal ? resolve(principal) : reject(error ?? failureOf(info));
      authenticator.authenticate('jwt', { session: false }, callback)(request, response, reject);
    });

  const ask = async (request: Request, response: Response, known?: Principal): Promise<Principal> => {
    const principal = known ?? (await authenticate(request, response));
    await strategy.requireActive(request);
    return principal;
  };

  return (request: Request, response: Response, next: NextFunction): void | Promise<void> => {
    if (isPublic(request.path)) {
      next();
      return undefined;
    }
    checkHeader(request);
    const recognise = (): Principal | Promise<Principal> => {
      const known = strategy.verifiedCaller(request);
      return known === undefined || strategy.asksIssuer ? ask(request, response, known) : known;
    };
    const goOn = (principal: Principal): void => {
      setPrincipal(request, principal, recognise);
      next();
    };
    const principal = recognise();
    // A rejection goes to `next`.
    return principal instanceof Promise ? principal.then(goOn) : goOn(principal);
  };
}

function checkHeader(request: Request): void {
  const count = countAuthorizationHeaders(request);
  if (count === 0) {
    throw new AuthenticationRequiredError('missing');
  }
  if (count > 1 || bearerToken(request) === null) {
    throw new AuthenticationRequiredError('malformed', { isTokenShown: false });
  }
}

/** jsonwebtoken tells its errors apart by their names, and the others by the beginning of their messages. */
const REASONS = [
  [/^TokenExpiredError:/, 'expired'],
  [/^NotBeforeError:/, 'not_yet_valid'],
  [/^JsonWebTokenError: invalid signature/, 'signature'],
  [/^JsonWebTokenError: jwt issuer invalid/, 'issuer'],
  [/^JsonWebTokenError: jwt audience invalid/, 'audience'],
] as const;

function failureOf(info: unknown): Error {
  if (info instanceof AuthenticationRequiredError || info instanceof KeySourceUnavailableError) {
    return info;
  }
  const text = info instanceof Error ? `${info.name}: ${info.message}` : '';
  const reason = REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? 'invalid';
  return new AuthenticationRequiredError(reason, { cause: info });
}

function pathMatcher(paths: readonly string[]): (path: string) => boolean {
  const exact = new Set(paths.filter((path) => !path.endsWith('/*')));
  const prefixes = paths.filter((path) => path.endsWith('/*')).map((path) => path.slice(0, -1));
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}
