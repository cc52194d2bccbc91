import type { NextFunction, Request, RequestHandler, Response } from 'express';
import passport from 'passport';
import { AuthenticationRequiredError, KeySourceUnavailableError } from './auth.errors.js';
import { bearerToken, countAuthorizationHeaders } from './bearer-token.js';
import { METADATA_PATH } from './protected-resource.js';
import { setPrincipal, type Principal } from '../user/principal.js';
import type { JwtStrategy } from './jwt.strategy.js';

/** Paths that need no token: health probes, metrics, the API documentation and where to get tokens (RFC 9728). A trailing `/*` covers all paths below. */
export const PUBLIC_PATHS: readonly string[] = [
  '/livez',
  '/readyz',
  '/metrics',
  '/docs',
  '/docs/*',
  '/docs-json',
  '/docs-yaml',
  `${METADATA_PATH}/*`,
];

/**
 * Express middleware that authenticates the caller. It must run before any body parser, so that the service parses no
 * body without a valid token (401 comes before 400), and after the CORS middleware, which answers preflights. Sets
 * `principalOf(request)`, or fails with AuthenticationRequiredError, KeySourceUnavailableError or
 * IntrospectionUnavailableError.
 * @param publicPaths paths that need no token, compared literally; see PUBLIC_PATHS
 */
export function bearerMiddleware(
  strategy: JwtStrategy,
  publicPaths: readonly string[] = PUBLIC_PATHS,
): RequestHandler {
  // A separate instance, because all applications of the process share the global one of passport.
  const authenticator = new passport.Passport();
  authenticator.use('jwt', strategy);
  const isPublic = pathMatcher(publicPaths);

  const verify = (request: Request, response: Response): Promise<Principal> =>
    new Promise((resolve, reject) => {
      const callback = (error: unknown, principal?: Principal | false, info?: unknown): void =>
        principal ? resolve(principal) : reject(error ?? failureOf(info));
      authenticator.authenticate('jwt', { session: false }, callback)(request, response, reject);
    });

  const verifyActive = async (req: Request, res: Response, known?: Principal): Promise<Principal> => {
    const principal = known ?? (await verify(req, res));
    await strategy.requireActive(req);
    return principal;
  };

  return (request: Request, response: Response, next: NextFunction): void | Promise<void> => {
    if (isPublic(request.path)) {
      next();
      return undefined;
    }
    checkHeader(request);
    const identify = (): Principal | Promise<Principal> => {
      const known = strategy.verifiedCaller(request);
      return known === undefined || strategy.usesIntrospection
        ? verifyActive(request, response, known)
        : known;
    };
    const proceed = (principal: Principal): void => {
      setPrincipal(request, principal, identify);
      next();
    };
    const principal = identify();
    // Express passes a rejected promise to `next`.
    return principal instanceof Promise ? principal.then(proceed) : proceed(principal);
  };
}

function checkHeader(request: Request): void {
  const count = countAuthorizationHeaders(request);
  if (count === 0) {
    throw new AuthenticationRequiredError('missing');
  }
  if (count > 1 || bearerToken(request) === null) {
    throw new AuthenticationRequiredError('malformed', { hasToken: false });
  }
}

/** Reasons by name and start of the message of the errors of jsonwebtoken. */
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
