import { createHmac } from 'node:crypto';
import {
  calculateJwkThumbprint,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
} from 'jose';
import { AuthenticationRequiredError } from '../platform/auth/auth.errors.js';
import { InvalidRequestError } from '../platform/errors/domain.error.js';
import type { PermissionRules } from '../platform/config/permission-rules.js';
import { Clock } from '../platform/clock.js';
import { type KeySource, TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import { claimsGranting, grantingRule, sampleNames } from './token-claims.js';

const ALGORITHM = 'ES256';
const AUDIENCE = 'urn:svc:api';
const PERMISSIONS_CLAIM = 'urn:svc:evaluation:permissions';
const PERMISSION = /^[^,\p{C}]{1,64}$/u;

/** Contents of a token of the evaluation server. */
export interface TokenOrder {
  readonly subject: string;
  readonly permissions: readonly string[] | 'all';
  readonly ttlSeconds: number;
}

/** A requested permission is not a valid name: 400. */
export class PermissionNameError extends InvalidRequestError {
  readonly code = 'PERMISSION_NAME_INVALID';
  constructor(override readonly details: string) {
    super('Request validation failed.', details);
  }
}

/** Optional parts of an issuer. */
export interface EvaluationIssuerParts {
  /** Clock with which the server checks its tokens. */
  readonly clock?: Clock;
  /** Key of the data folder, from which the name of the issuer is derived. Without it, each process has another name. */
  readonly folderKey?: string;
}

/**
 * The token issuer of evaluation mode: an ES256 key that exists only in the memory of this process. Its name is a URN, which production
 * cannot be configured to trust. The name is derived from the data folder, because users are identified by issuer and subject and must keep
 * their tasks after a restart.
 */
export class EvaluationIssuer implements KeySource {
  readonly version = 1;

  private constructor(
    private readonly privateKey: CryptoKey,
    private readonly publicPem: string,
    private readonly thumbprint: string,
    private readonly id: string,
    private readonly rules: PermissionRules,
    private readonly clock: Clock,
  ) {}

  static async create(
    rules: PermissionRules,
    { clock = new Clock(), folderKey }: EvaluationIssuerParts = {},
  ): Promise<EvaluationIssuer> {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
    const thumbprint = await calculateJwkThumbprint(await exportJWK(publicKey));
    // Does not reveal the key, since the key is random.
    const id =
      folderKey === undefined
        ? thumbprint
        : createHmac('sha256', folderKey).update('issuer').digest('base64url');
    return new EvaluationIssuer(privateKey, await exportSPKI(publicKey), thumbprint, id, rules, clock);
  }

  get name(): string {
    return `urn:svc:evaluation:${this.id}`;
  }

  get trusted(): TrustedIssuer {
    const rules = { issuer: this.name, audience: AUDIENCE, algorithms: [ALGORITHM] };
    return new TrustedIssuer({ ...rules, permissionsClaim: PERMISSIONS_CLAIM }, this);
  }

  /** Names of the permissions that rules grant. Tokens can grant others too, such as those of `svc:start`. */
  get permissions(): readonly string[] {
    return Object.keys(this.rules).filter((name) => grantingRule(this.rules, name));
  }

  /**
   * Signs an access token (RFC 9068).
   * @throws PermissionNameError
   */
  async mint({ subject, permissions, ttlSeconds }: TokenOrder): Promise<string> {
    const known = this.permissions;
    const names = permissions === 'all' ? known : permissions;
    checkNames(names);
    const others = names.filter((name) => !known.includes(name));
    const claims = {
      ...claimsGranting(names, this.rules),
      ...(others.length > 0 && { [PERMISSIONS_CLAIM]: others }),
      ...sampleNames(subject),
      client_id: 'evaluation',
    };
    const issuedAt = secondsOf(this.clock);
    // The library that verifies tokens uses the system time.
    const goodFrom = Math.max(issuedAt, secondsOf(new Clock()));
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: this.thumbprint })
      .setIssuer(this.name)
      .setAudience(AUDIENCE)
      .setSubject(subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(goodFrom + ttlSeconds)
      .setJti(crypto.randomUUID())
      .sign(this.privateKey);
  }

  async keyFor({ kid }: { kid?: string }): Promise<string> {
    if (kid !== this.thumbprint) {
      throw new AuthenticationRequiredError('unknown_key');
    }
    return this.publicPem;
  }

  ageSeconds(): number {
    return 0;
  }

  start(): void {
    // The key is made together with the issuer.
  }

  stop(): void {
    // Nothing runs in the background.
  }
}

function checkNames(names: readonly string[]): void {
  const wrong = names.find((name) => !PERMISSION.test(name));
  if (wrong !== undefined) {
    throw new PermissionNameError(
      `"${wrong}" cannot be a permission: a name has 1 to 64 characters and no comma.`,
    );
  }
}

function secondsOf(clock: Clock): number {
  return Math.floor(clock.now().getTime() / 1_000);
}
