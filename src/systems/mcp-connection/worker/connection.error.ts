import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import type { ToolCallFailureCause } from '../model/tool-call.types.js';
import { ProtocolError, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';
import { isJsonObject, parsedJson } from '#engine/json';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { plainText } from './plain-text.js';

/** The causes that a party gives by HTTP 429: the server, or the token endpoint. */
export type LimitCause = Extract<ConnectionFailureCause, 'rate_limited' | 'token_busy'>;

/** A connection test that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** @param retryAfterMs how long a {@link LimitCause} asks to wait, in milliseconds */
  constructor(
    readonly failure: ConnectionFailureCause,
    readonly retryAfterMs?: number,
  ) {
    super(failure);
  }

  /** Whether a party limits requests (HTTP 429). */
  get isLimit(): boolean {
    return this.failure === 'rate_limited' || this.failure === 'token_busy';
  }
}

/** A tool call that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  constructor(readonly failure: ToolCallFailureCause) {
    super(failure);
  }
}

const MAX_WORDS = 2_000;
/** Statuses that say more than the error in their body does. */
const SAYS_MORE: ReadonlySet<number> = new Set([401, 403, 429]);
const SERVER_FAILS = 500;

/** A JSON-RPC error of a server. The message is ours: nothing foreign can get into a log by it. */
export class ServerError extends ProtocolError {
  /** @param answersRequest whether it has the id of the request, so that it was read */
  constructor(
    code: number,
    private readonly foreign: string,
    readonly answersRequest: boolean,
  ) {
    super(code, 'refused');
  }

  /** Plain text of at most 2,000 characters. Untrusted. @param removal takes out what the server was sent */
  words(removal: SecretRemoval): string {
    return plainText(removal.text(this.foreign), MAX_WORDS);
  }
}

/** The JSON-RPC error in the body of a 4xx that says no more; of a 5xx one that answers the request. */
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

/** Whether an id, or a token of progress, is that of a request. Servers send numbers back as texts, and clients take them. */
export function isSameId(id: unknown, request: RequestId | undefined): boolean {
  return request !== undefined && (id === request || Number(id) === Number(request));
}
