import type { IncomingMessage } from 'node:http';
import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy, type StrategyOptionsWithRequest } from 'passport-jwt';
import { Env } from '../config/env.js';
import { Clock } from '../clock.js';
import { userReferenceFrom } from '../user/user-reference.js';
import { AuthenticationRequiredError, KeySourceUnavailableError } from './auth.errors.js';
import { bearerToken, tokenExpiry } from './bearer-token.js';
import { permissionsFrom } from './claims-to-permissions.js';
import type { Principal } from '../user/principal.js';
import { checkClaims, decodeTokenHeader, readTokenHeader, type Claims } from './token-rules.js';
import { TrustedIssuer } from './trusted-issuer.js';
import { VerifiedTokens } from './verified-tokens.js';
import { tokenLimits } from './token.limits.js';

type Algorithms = NonNullable<StrategyOptionsWithRequest['algorithms']>;
type KeyCallback = (error: unknown, key?: string) => void;

/**
 * Verifies bearer tokens of the trusted issuer: passport-jwt checks signature, algorithm, issuer, audience, exp and
 * nbf; token-rules.ts checks the rest. Failures reach the passport callback as `info`: a KeySourceUnavailableError is
 * our fault (500), everything else is the caller's (401).
 */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  private readonly verified = new VerifiedTokens();
  /** Version of the keys when each check began. If keys change during a check, its result is not cached. */
  private readonly keysOfChecks = new WeakMap<IncomingMessage, number>();

  constructor(
    private readonly trusted: TrustedIssuer,
    private readonly env: Env,
    private readonly clock: Clock,
  ) {
    super({
      jwtFromRequest: bearerToken,
      issuer: trusted.rules.issuer,
      audience: trusted.rules.audience,
      algorithms: [...trusted.rules.algorithms] as Algorithms,
      jsonWebTokenOptions: { clockTolerance: tokenLimits.clockToleranceSeconds },
      passReqToCallback: true,
      secretOrKeyProvider: (request: IncomingMessage, token: string, done: KeyCallback) => {
        this.keysOfChecks.set(request, trusted.keys.version);
        callbackify((unverified: string) => this.keyFor(unverified))(token, done);
      },
    });
  }

  get usesIntrospection(): boolean {
    return this.trusted.introspection !== undefined;
  }

  /** Returns the caller if the token was verified recently, so that it need not be verified again. */
  verifiedCaller(request: IncomingMessage): Principal | undefined {
    const token = bearerToken(request);
    const now = this.clock.now().getTime();
    return token === null ? undefined : this.verified.find(token, { now, keys: this.trusted.keys.version });
  }

  /**
   * Called by passport-jwt once the signature is verified.
   * @throws AuthenticationRequiredError when the claims are not those of an access token for this service
   */
  validate(request: IncomingMessage, claims: Claims): Principal {
    const now = this.clock.now().getTime();
    const token = bearerToken(request) ?? '';
    const parts = { header: decodeTokenHeader(token), claims };
    const { rules } = this.trusted;
    const { iss, sub, exp } = checkClaims(parts, rules, now / 1_000, tokenLimits.clockToleranceSeconds);
    const principal: Principal = {
      issuer: iss,
      subject: sub,
      user: userReferenceFrom(claims),
      permissions: permissionsFrom(claims, this.env.get('PERMISSION_RULES'), rules.permissionsClaim),
    };
    const keys = this.keysOfChecks.get(request);
    if (keys !== undefined) {
      this.verified.remember(token, principal, { expiresAt: exp * 1_000, now, keys });
    }
    return principal;
  }

  /**
   * Checks, if introspection is configured, that the token of an authenticated caller is still active.
   * @throws AuthenticationRequiredError when it is not
   * @throws IntrospectionUnavailableError
   */
  async requireActive(request: IncomingMessage): Promise<void> {
    const { introspection } = this.trusted;
    const token = bearerToken(request);
    if (introspection === undefined || token === null) {
      return;
    }
    if (!(await introspection.isActive(token, tokenExpiry(request)))) {
      throw new AuthenticationRequiredError('inactive');
    }
  }

  private async keyFor(token: string): Promise<string> {
    if (token.length > tokenLimits.maxBytes) {
      throw new AuthenticationRequiredError('refused');
    }
    const header = readTokenHeader(token, this.trusted.rules);
    try {
      return await this.trusted.keys.keyFor(header);
    } catch (cause) {
      // passport-jwt reports every error as a failed login, which only an AuthenticationRequiredError may be.
      throw cause instanceof AuthenticationRequiredError || cause instanceof KeySourceUnavailableError
        ? cause
        : new KeySourceUnavailableError({ cause });
    }
  }
}
