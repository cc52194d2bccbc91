import { hash } from 'node:crypto';
import { Agent, fetch as undiciFetch } from 'undici';
import { RecentlyUsed } from '../recently-used.js';
import { IntrospectionUnavailableError } from './auth.errors.js';
import { boundedText } from './issuer-documents.js';
import { SingleFlight } from '../concurrency/single-flight.js';

/** How the endpoint is asked. It is configured by the operator and so trusted as an address, but not to be quick or brief. */
export interface IntrospectionOptions {
  readonly url: string;
  readonly authorization: string;
  /** Milliseconds for which an answer serves; 0 is for nobody but those who wait for it. */
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
/** An endpoint that has just failed is left alone for so long, and everybody is told at once. */
const PAUSE_MS = 1_000;
const SERVER_ERROR = 500;

/** The endpoint answers, but not with a verdict on this token. */
class AnswerError extends Error {}

/**
 * Asks the issuer whether tokens are still active (RFC 7662). Of an answer it remembers a hash of the token and the verdict, for a
 * while and never beyond the end of the token. Those who ask for one token at one moment share one request. Without an answer no
 * token is taken.
 */
export class TokenIntrospection {
  private readonly verdicts = new RecentlyUsed<string, Verdict>({ entries: MAX_ENTRIES });
  private readonly flights = new SingleFlight<string, Verdict>();
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
    const { isActive } = await this.flights.run(key, () => this.verdictOn(key, token, expiresAt));
    return isActive;
  }

  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  private async verdictOn(key: string, token: string, expiresAt: number): Promise<Verdict> {
    const { isActive, ends } = await this.ask(token);
    const until = Math.min(this.now() + this.options.cacheMs, expiresAt, ends);
    const verdict = { isActive, until };
    this.verdicts.set(key, verdict);
    return verdict;
  }

  private async ask(token: string): Promise<{ isActive: boolean; ends: number }> {
    if (this.failedUntil > this.now()) {
      throw new IntrospectionUnavailableError();
    }
    try {
      const verdict = verdictOf(JSON.parse(await this.post(token)));
      this.failedUntil = 0;
      return verdict;
    } catch (cause) {
      // One token for which there is no good answer says nothing about the others.
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

/** @throws Error for what is no answer of such an endpoint (RFC 7662, section 2.2) */
function verdictOf(answer: unknown): { isActive: boolean; ends: number } {
  const { active, exp } = (answer ?? {}) as { active?: unknown; exp?: unknown };
  if (typeof active !== 'boolean') {
    throw new AnswerError('no verdict');
  }
  return { isActive: active, ends: typeof exp === 'number' ? exp * 1_000 : Number.POSITIVE_INFINITY };
}
