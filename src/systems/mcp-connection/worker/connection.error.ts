import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import type { ToolCallFailureCause } from '../model/tool-call.types.js';
import { ProtocolError, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';
import { isJsonObject, parsedJson } from '#engine/json';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { plainText } from './plain-text.js';

/** Causes reported by HTTP 429 of the server or the token endpoint. */
export type LimitCause = Extract<ConnectionFailureCause, 'rate_limited' | 'token_busy'>;

/** A connection test failed for a known cause. The message is the cause, so it contains no external text. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** @param retryAfterMs milliseconds to wait after a {@link LimitCause} */
  constructor(
    readonly failure: ConnectionFailureCause,
    readonly retryAfterMs?: number,
  ) {
    super(failure);
  }

  /** Whether the cause is a {@link LimitCause}. */
  get isLimit(): boolean {
    return this.failure === 'rate_limited' || this.failure === 'token_busy';
  }
}

/** A tool call failed for a known cause. The message is the cause, so it contains no external text. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  constructor(readonly failure: ToolCallFailureCause) {
    super(failure);
  }
}

const MAX_WORDS = 2_000;
/** Statuses that are more specific than the error in their body. */
const SAYS_MORE: ReadonlySet<number> = new Set([401, 403, 429]);
const SERVER_FAILS = 500;

/** A JSON-RPC error of a server. The message is fixed, so that no external text gets into logs. */
export class ServerError extends ProtocolError {
  /** @param answersRequest whether the error has the id of the request, so the server has read it */
  constructor(
    code: number,
    private readonly foreign: string,
    readonly answersRequest: boolean,
  ) {
    super(code, 'refused');
  }

  /** Returns the server's message as plain text of at most 2,000 characters. Untrusted. @param removal removes sent credentials */
  words(removal: SecretRemoval): string {
    return plainText(removal.text(this.foreign), MAX_WORDS);
  }
}

/** Reads a JSON-RPC error from the body of a 4xx whose status is not more specific, or of a 5xx if it answers the request. */
export function serverErrorOf(error: unknown, request: RequestId): ServerError | undefined {
  if (!(error instanceof SdkHttpError) || SAYS_MORE.has(error.data.status)) {
    return undefined;
  }
  const body = parsedJson(String(error.data['text']));
  const { id, error: refusal } = isJsonObject(body) ? body : {};
  const { code, message } = isJsonObject(refusal) ? refusal : {};
  const isOurs = isSameId(id, request);
  return typeof code === 'number' && (isOurs || error.data.status < SERVER_FAILS)
    ? new ServerError(code, typeof message === 'string' ? message : '', isOurs)
    : undefined;
}

/** Returns whether an id or progress token is that of a request. Some servers return numbers as texts, which clients accept. */
export function isSameId(id: unknown, request: RequestId | undefined): boolean {
  return request !== undefined && (id === request || Number(id) === Number(request));
}
