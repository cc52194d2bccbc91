import { createHash } from 'node:crypto';
import type { OutboundClient } from '../../../platform/outbound/outbound.client.js';
import { OutboundError } from '../../../platform/outbound/outbound.error.js';
import type { OperationLimits, OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { materialText, type TlsMaterial } from '../../../platform/tls/tls-material.js';
import { LruCache } from '../../../platform/lru-cache.js';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import type { TokenClient } from '../model/connection-test.types.js';
import { causeOfAnswer, clientProof, readTokenAnswer, type TokenAnswer } from './token-answer.js';
import { ConnectionError } from './connection.error.js';
import { pauseFor, SharedWork } from './shared-work.js';
import { outboundClient } from '../../../platform/outbound/configured-outbound.js';
import { Bulkhead } from '../../../platform/concurrency/bulkhead.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';

/** Input of a client credentials grant (RFC 6749, section 4.4). */
export type TokenRequest = TokenClient & {
  /** Canonical URL of the MCP server that the token is for (RFC 8707). */
  resource: string;
  /** Certificates of the system for the token endpoint. */
  tls: TlsMaterial | undefined;
};

/** An access token and how it was obtained. */
export interface AccessToken {
  value: string;
  /** Milliseconds since the epoch until which it is used; some time before its expiry. */
  usableUntil: number;
  /** Whether the endpoint returned no valid `expires_in`. */
  noExpiry: boolean;
  /** How it was requested. Without `resource` the token is not bound to the MCP server. */
  way: TokenRequestWay;
}

/** How to request a token: client authentication (OpenID Connect Core 1.0, section 9) and resource indicator (RFC 8707). */
interface TokenRequestWay {
  method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';
  sendsResource: boolean;
}

const DEFAULT_LIFE_SECONDS = 300;
const MAX_LIFE_SECONDS = 86_400;
const MAX_AHEAD_MS = 30_000;
const AHEAD_SHARE = 0.1;
const MAX_CACHED_TOKENS = 1_000;
/** Maximum number of waits after 429, and the minimum and default wait in milliseconds. */
const MAX_WAITS = 3;
const SHORTEST_WAIT_MS = 100;
const USUAL_WAIT_MS = 1_000;
const MAY_BE_THE_METHOD: ReadonlySet<ConnectionFailureCause> = new Set([
  'invalid_client',
  'token_grant',
  'token_request',
]);
const DROPS_RESOURCE: ReadonlySet<unknown> = new Set([
  'invalid_target',
  'invalid_resource',
  'invalid_request',
]);
const TOKEN_TEXT = /^[\x21-\x7e]{1,16384}$/;

/**
 * Requests and caches access tokens by all parts of their request. Concurrent requests for the same token share one call, which is
 * aborted when none waits for it any more.
 */
export class OAuthTokenClient {
  private readonly cache = new LruCache<string, AccessToken>({ entries: MAX_CACHED_TOKENS });
  private readonly flights = new Map<string, SharedWork<AccessToken>>();

  constructor(
    private readonly outbound: OutboundClient,
    private readonly limits: OperationLimits,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Returns a valid token from the cache or the endpoint.
   * @param waiter operation that needs it and whose deadline ends the wait
   * @throws ConnectionError `invalid_client` when the endpoint rejects the credentials of the client, otherwise a `token_` cause
   */
  async get(request: TokenRequest, waiter: OutboundOperation): Promise<AccessToken> {
    const key = keyOf(request);
    const cached = this.cache.get(key);
    if (cached !== undefined && cached.usableUntil > this.now()) {
      return cached;
    }
    const flight = this.flights.get(key) ?? this.startFlight(key, request);
    try {
      return await flight.wait(waiter);
    } catch (error) {
      throw waiter.signal.aborted ? tokenFailure(waiter.signal.reason) : error;
    }
  }

  /** Discards a token that the MCP server rejected, unless the cache has a newer one. */
  drop(request: TokenRequest, refused: string): void {
    const key = keyOf(request);
    const token = this.cache.get(key);
    if (token?.value === refused) {
      this.cache.set(key, { ...token, usableUntil: 0 });
    }
  }

  private startFlight(key: string, request: TokenRequest): SharedWork<AccessToken> {
    const operation = this.outbound.openWith(this.limits, request.tls);
    const promise = this.request(request, operation, this.cache.get(key)?.way)
      .then((token) => {
        this.cache.set(key, token);
        return token;
      })
      .catch((error: unknown) => {
        throw error instanceof ConnectionError ? error : tokenFailure(operation.failure ?? error);
      })
      .finally(() => this.flights.delete(key));
    const flight = new SharedWork(operation, promise);
    this.flights.set(key, flight);
    return flight;
  }

  /** Requests a token, first in the way that worked last time, by default with Basic and `resource`. Tries each other way at most once. */
  private async request(
    request: TokenRequest,
    operation: OutboundOperation,
    lastWay: TokenRequestWay | undefined,
  ): Promise<AccessToken> {
    let way = lastWay ?? firstWay(request);
    for (let waits = 0; ;) {
      const answer = await this.post(request, way, operation);
      if (answer.status >= 200 && answer.status < 300) {
        return this.tokenOf(answer.body, way);
      }
      const cause = causeOfAnswer(answer);
      const next: TokenRequestWay | undefined = nextWay(way, answer, cause);
      if (next !== undefined) {
        way = next;
      } else if (cause === 'token_busy' && waits < MAX_WAITS && (await waited(answer, operation))) {
        waits += 1;
      } else {
        throw refusal(cause, answer);
      }
    }
  }

  private async post(
    request: TokenRequest,
    way: TokenRequestWay,
    operation: OutboundOperation,
  ): Promise<TokenAnswer> {
    const { scope, tokenParameters, resource, tokenUrl } = request;
    const proof = await clientProof(request, way.method);
    const form = new URLSearchParams({
      ...tokenParameters,
      grant_type: 'client_credentials',
      ...(scope === undefined ? {} : { scope }),
      ...(way.sendsResource ? { resource } : {}),
      ...proof.form,
    });
    const response = await operation.fetch(tokenUrl, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...proof.headers,
      },
      body: form.toString(),
    });
    return readTokenAnswer(response, operation);
  }

  private tokenOf(body: TokenAnswer['body'], way: TokenRequestWay): AccessToken {
    const { access_token: value, token_type: type, expires_in: expiresIn } = body;
    if (typeof value !== 'string' || !TOKEN_TEXT.test(value) || !isBearer(type)) {
      throw new ConnectionError('token_invalid');
    }
    const seconds = Number(expiresIn ?? Number.NaN);
    const noExpiry = !Number.isFinite(seconds) || seconds < 0;
    const lifeMs = 1_000 * (noExpiry ? DEFAULT_LIFE_SECONDS : Math.min(seconds, MAX_LIFE_SECONDS));
    const aheadMs = Math.min(MAX_AHEAD_MS, lifeMs * AHEAD_SHARE);
    return { value, usableUntil: this.now() + lifeMs - aheadMs, noExpiry, way };
  }
}

function firstWay(request: TokenRequest): TokenRequestWay {
  return { method: 'privateKey' in request ? 'private_key_jwt' : 'client_secret_basic', sendsResource: true };
}

function nextWay(
  way: TokenRequestWay,
  { status, body: { error } }: TokenAnswer,
  cause: ConnectionFailureCause,
): TokenRequestWay | undefined {
  if (cause === 'token_busy') {
    return undefined;
  }
  if (way.sendsResource && DROPS_RESOURCE.has(error)) {
    return { ...way, sendsResource: false };
  }
  const isBareRefusal = status === 403 && typeof error !== 'string';
  return way.method === 'client_secret_basic' && (isBareRefusal || MAY_BE_THE_METHOD.has(cause))
    ? { method: 'client_secret_post', sendsResource: true }
    : undefined;
}

/** Waits as long as the endpoint requests. Returns false immediately if the deadline is earlier. */
function waited({ retryAfterMs }: TokenAnswer, operation: OutboundOperation): Promise<boolean> {
  const ms = Math.max(SHORTEST_WAIT_MS, retryAfterMs ?? USUAL_WAIT_MS);
  return pauseFor({ cause: 'token_busy', ms }, operation);
}

function refusal(cause: ConnectionFailureCause, { retryAfterMs }: TokenAnswer): ConnectionError {
  return new ConnectionError(cause, cause === 'token_busy' ? (retryAfterMs ?? undefined) : undefined);
}

/** Returns whether a token is a bearer token. RFC 6749 requires `token_type`, but deployed servers omit it and mean Bearer. */
function isBearer(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer');
}

/** Returns the cache key: a digest, so that keys in a memory dump reveal nothing. */
function keyOf(request: TokenRequest): string {
  const { tokenUrl, clientId, resource, scope = null, tokenParameters = null } = request;
  const proof = 'privateKey' in request ? [request.privateKey, request.keyId] : [request.clientSecret];
  const parts = [tokenUrl, clientId, resource, scope, tokenParameters, ...proof, materialText(request.tls)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function tokenFailure(error: unknown): ConnectionError {
  const failure = error instanceof OutboundError ? error.failure : 'network';
  const cause: ConnectionFailureCause =
    failure === 'busy' ? 'overloaded' : failure === 'closed' ? 'token_timeout' : `token_${failure}`;
  return new ConnectionError(cause);
}

/** Large answers in memory at the same time, and how long one keeps its place while others wait. */
const LARGE_ANSWERS = { capacity: 4, leaseMs: 2_000 };
/** Maximum number of answers to one token request, one for each way that it tries. */
const TOKEN_ANSWERS = 4;

/** Creates the clients of a worker for servers and token endpoints. @param deadlineMs deadline of a token request */
export function outsideClients(
  { outbound: settings, limits }: McpWorkerSettings,
  deadlineMs: number,
): { outbound: OutboundClient; tokens: OAuthTokenClient } {
  const maxResponseBytes = limits.tokenEndpointMaxBytes;
  const outbound = outboundClient(settings, { largeAnswers: new Bulkhead(LARGE_ANSWERS) });
  const tokenLimits = { deadlineMs, maxResponseBytes, maxTotalBytes: maxResponseBytes * TOKEN_ANSWERS };
  return { outbound, tokens: new OAuthTokenClient(outbound, tokenLimits) };
}
