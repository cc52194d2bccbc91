import { hash } from 'node:crypto';
import { Agent, fetch as undiciFetch } from 'undici';
import { LruCache } from '../lru-cache.js';
import { IntrospectionUnavailableError } from './auth.errors.js';
import { boundedText } from './issuer-documents.js';
import { SingleFlight } from '../concurrency/single-flight.js';

/**
 * How to call the introspection endpoint. The operator configured it, so its address is trusted, but it may be slow or
 * send too much.
 */
export interface IntrospectionOptions {
  readonly url: string;
  readonly authorization: string;
  /** Milliseconds for which a response is cached. With 0, only concurrent requests share one. */
  readonly cacheMs: number;
  readonly timeoutMs: number;
  readonly connections: number;
}

interface Verdict {
  readonly isActive: boolean;
  readonly until: number;
}

const MAX_ENTRIES = 5_000;
const MAX_ANSWER_BYTES = 65_536;
/** Time after a failure in which requests fail immediately, without a call of the endpoint. */
const PAUSE_MS = 1_000;
const SERVER_ERROR = 500;

/** The endpoint responded, but without a verdict on this token. */
class AnswerError extends Error {}

/**
 * Asks the issuer whether tokens are still active (RFC 7662). The verdict is cached under a hash of the token, at most
 * until the token expires. Concurrent requests with the same token share one call. Without a verdict, a token is not
 * accepted.
 */
export class TokenIntrospection {
  private readonly verdicts = new LruCache<string, Verdict>({ entries: MAX_ENTRIES });
  private readonly pending = new SingleFlight<string, Verdict>();
  private readonly dispatcher: Agent;
  private failedUntil = 0;

  constructor(
    private readonly options: IntrospectionOptions,
    private readonly now: () => number = Date.now,
  ) {
    const { connections, timeoutMs } = options;
    this.dispatcher = new Agent({ connections, connect: { timeout: timeoutMs }, maxHeaderSize: 16_384 });
  }

  /**
   * @param expiresAt end of the token, milliseconds since 1970
   * @throws IntrospectionUnavailableError
   */
  async isActive(token: string, expiresAt: number): Promise<boolean> {
    const key = hash('sha256', token, 'base64url');
    const known = this.verdicts.get(key);
    if (known !== undefined && known.until > this.now()) {
      return known.isActive;
    }
    const { isActive } = await this.pending.run(key, () => this.request(key, token, expiresAt));
    return isActive;
  }

  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  private async request(key: string, token: string, expiresAt: number): Promise<Verdict> {
    const { isActive, validUntil } = await this.introspect(token);
    const until = Math.min(this.now() + this.options.cacheMs, expiresAt, validUntil);
    const verdict = { isActive, until };
    this.verdicts.set(key, verdict);
    return verdict;
  }

  private async introspect(token: string): Promise<{ isActive: boolean; validUntil: number }> {
    if (this.failedUntil > this.now()) {
      throw new IntrospectionUnavailableError();
    }
    try {
      const verdict = verdictOf(JSON.parse(await this.post(token)));
      this.failedUntil = 0;
      return verdict;
    } catch (cause) {
      // A bad response about one token does not mean that the endpoint is down.
      if (!(cause instanceof AnswerError || cause instanceof SyntaxError)) {
        this.failedUntil = this.now() + PAUSE_MS;
      }
      throw new IntrospectionUnavailableError({ cause });
    }
  }

  private async post(token: string): Promise<string> {
    const { url, authorization, timeoutMs } = this.options;
    const response = await undiciFetch(url, {
      method: 'POST',
      headers: {
        authorization,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      dispatcher: this.dispatcher,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      const Failure = response.status < SERVER_ERROR ? AnswerError : Error;
      throw new Failure(`status ${response.status}`);
    }
    return boundedText(response.body, MAX_ANSWER_BYTES, () => new AnswerError('too large'));
  }
}

/**
 * Reads a response (RFC 7662, section 2.2).
 * @throws AnswerError when it has no verdict
 */
function verdictOf(answer: unknown): { isActive: boolean; validUntil: number } {
  const { active, exp } = (answer ?? {}) as { active?: unknown; exp?: unknown };
  if (typeof active !== 'boolean') {
    throw new AnswerError('no verdict');
  }
  return { isActive: active, validUntil: typeof exp === 'number' ? exp * 1_000 : Number.POSITIVE_INFINITY };
}
