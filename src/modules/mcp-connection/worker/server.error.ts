import { ProtocolError, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';

import { isJsonObject } from '../../../common/json.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import { isSameId } from './message-ids.js';
import { plainText } from './plain-text.js';

const MAX_WORDS = 2_000;
/** Statuses that say more than the error in their body does. */
const SAYS_MORE: ReadonlySet<number> = new Set([401, 403, 429]);
const SERVER_FAILS = 500;

/** A JSON-RPC error of a server. The message is ours: nothing foreign can get into a log by it. */
export class ServerError extends ProtocolError {
  /**
   * @param foreign what the server says, see {@link words}
   * @param answersRequest whether it has the id of the request: what refuses a request before it is read has not
   */
  constructor(
    code: number,
    private readonly foreign: string,
    readonly answersRequest: boolean,
  ) {
    super(code, 'refused');
  }

  /**
   * The words of the server as plain text without what a person cannot see, cut to 2,000 characters. Untrusted.
   * @param removal takes out what the server was sent, before anything is cut
   */
  words(removal = SecretRemoval.none): string {
    return plainText(removal.text(this.foreign), MAX_WORDS);
  }
}

/**
 * The JSON-RPC error in the body of an HTTP answer with a status of 4xx, where this says no more than that; with 5xx only one that
 * answers the request.
 */
export function serverErrorOf(error: unknown, request: RequestId): ServerError | undefined {
  if (!(error instanceof SdkHttpError) || SAYS_MORE.has(error.data.status)) {
    return undefined;
  }
  const body = parsed(error.data['text']);
  const { id, error: refusal } = isJsonObject(body) ? body : {};
  const { code, message } = isJsonObject(refusal) ? refusal : {};
  const isOurs = isSameId(id, request);
  return typeof code === 'number' && (isOurs || error.data.status < SERVER_FAILS)
    ? new ServerError(code, typeof message === 'string' ? message : '', isOurs)
    : undefined;
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
