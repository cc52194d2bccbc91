import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';

import { isJsonObject } from '../../../common/json.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import { plainText } from './plain-text.js';

const MAX_WORDS = 2_000;
/** Statuses that say more than the error in their body does. */
const SAYS_MORE: ReadonlySet<number> = new Set([401, 403, 429]);
const SERVER_FAILS = 500;

/** A JSON-RPC error of a server. The message is ours: nothing foreign can get into a log by it. */
export class ServerError extends ProtocolError {
  /** @param words what the server says; foreign, see {@link words} */
  constructor(
    code: number,
    private readonly foreign: string,
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

/** The JSON-RPC error in the body of an HTTP answer with a status of 4xx, where this says no more than that. */
export function serverErrorOf(error: unknown): ServerError | undefined {
  if (!(error instanceof SdkHttpError) || !isOfTheProtocol(error.data.status)) {
    return undefined;
  }
  const body = parsed(error.data['text']);
  const refusal = isJsonObject(body) ? body['error'] : undefined;
  const { code, message } = isJsonObject(refusal) ? refusal : {};
  return typeof code === 'number' && typeof message === 'string' ? new ServerError(code, message) : undefined;
}

function isOfTheProtocol(status: number): boolean {
  return status < SERVER_FAILS && !SAYS_MORE.has(status);
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
