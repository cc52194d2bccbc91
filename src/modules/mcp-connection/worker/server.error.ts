import { ProtocolError, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';
import { isJsonObject, parsedJson } from '../../../common/json.js';
import type { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import { plainText } from './plain-text.js';

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
