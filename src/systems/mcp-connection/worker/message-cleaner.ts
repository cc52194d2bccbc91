import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#engine/json';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import { isSameId } from './connection.error.js';
import type { Transformer, TransformStreamDefaultController } from 'node:stream/web';

const HANDSHAKES: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);
const SERVER_TEXTS = ['name', 'version', 'title', 'description'];

/** What is wrong with the latest answer of a server, if anything. */
export interface MessageProblem {
  problem?: ConnectionFailureCause | undefined;
}

/** A JSON-RPC request of this client. */
export interface SentRequest {
  method: unknown;
  id: RequestId;
}

/** Removes insignificant content that the client library would reject. One for each transport. */
export class MessageCleaner {
  private handshake: RequestId | undefined;

  /** @param found receives what is wrong with an answer */
  constructor(private readonly found: MessageProblem) {}

  /** Records a request, to recognize the answer to a handshake. */
  sent(request: SentRequest | undefined): void {
    if (HANDSHAKES.has(request?.method)) {
      this.handshake = request?.id;
    }
  }

  /** Returns the cleaned message, or the value itself if there is nothing to clean. @param request request that it answers */
  clean(value: unknown, request?: RequestId): unknown {
    if (Array.isArray(value)) {
      return value.map((message) => this.clean(message, request));
    }
    if (!isJsonObject(value)) {
      return value;
    }
    const answer = 'error' in value || !isAccepted(value) ? withoutExtras(value, request) : value;
    const { id, result } = answer;
    const isHandshake = isSameId(id, this.handshake) && isJsonObject(result);
    const cleaned = isHandshake ? { ...answer, result: handshakeOf(result) } : answer;
    this.judge(cleaned, isHandshake);
    return cleaned;
  }

  private judge(message: JsonObject, isHandshake: boolean): void {
    const { jsonrpc, method, result } = message;
    if (method !== undefined) {
      return;
    }
    if (!isAccepted(message)) {
      this.found.problem = jsonrpc === undefined ? undefined : 'invalid_message';
    } else if (isJsonObject(result)) {
      this.found.problem = isHandshake ? handshakeProblem(result) : undefined;
    } else if (this.found.problem === 'invalid_message') {
      // An error says nothing about the protocol versions of a server, so an earlier problem with them is kept.
      this.found.problem = undefined;
    }
  }
}

function isAccepted(message: JsonObject): boolean {
  return isJSONRPCResponse(message) || isJSONRPCNotification(message) || isJSONRPCRequest(message);
}

function withoutExtras(
  { jsonrpc, id, method, params, error, result }: JsonObject,
  request: RequestId | undefined,
): JsonObject {
  if (typeof method === 'string') {
    return withoutNulls({ jsonrpc, id, method, params: withCleanMeta(params) });
  }
  if (isJsonObject(error)) {
    const { code, message, data } = error;
    const words = typeof message === 'string' ? message : '';
    return withoutNulls({ jsonrpc, id: id ?? request, error: { code, message: words, data } });
  }
  return withoutNulls({ jsonrpc, id, result: withCleanMeta(result) });
}

function withCleanMeta(value: unknown): unknown {
  if (!isJsonObject(value)) {
    return value;
  }
  const { _meta: meta, ...rest } = value;
  return isJsonObject(meta) ? { ...rest, _meta: withoutNulls(meta) } : rest;
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => (member ?? null) !== null));
}

/** Reduces the result of `initialize` or `server/discover` to what this service reads. */
function handshakeOf(result: JsonObject): JsonObject {
  const { protocolVersion, supportedVersions, capabilities, serverInfo, resultType, _meta: meta } = result;
  const identity = identityOf(isJsonObject(meta) ? meta[SERVER_INFO_META_KEY] : undefined);
  return withoutNulls({
    protocolVersion,
    supportedVersions: Array.isArray(supportedVersions) ? supportedVersions.filter(isText) : undefined,
    capabilities: capabilitiesOf(capabilities),
    serverInfo: identityOf(serverInfo),
    resultType,
    _meta: { [SERVER_INFO_META_KEY]: identity },
  });
}

function capabilitiesOf(capabilities: unknown): JsonObject {
  const declared = isJsonObject(capabilities) ? withoutNulls(capabilities) : {};
  return Object.fromEntries(
    Object.entries(declared).map(([name, details]) => [
      name,
      isJsonObject(details) && details['listChanged'] === true ? { listChanged: true } : {},
    ]),
  );
}

function identityOf(value: unknown): JsonObject {
  const info = isJsonObject(value) ? value : {};
  const texts = SERVER_TEXTS.map((name) => [name, info[name]]).filter(([, text]) => isText(text));
  return { name: '', version: '', ...(Object.fromEntries(texts) as JsonObject) };
}

function handshakeProblem({
  protocolVersion,
  supportedVersions,
}: JsonObject): ConnectionFailureCause | undefined {
  if (Array.isArray(supportedVersions)) {
    // The library's list lacks the revisions since 2026-07-28, the only ones with this answer.
    return supportedVersions.some((version) => String(version) > LATEST_PROTOCOL_VERSION)
      ? undefined
      : 'unsupported_version';
  }
  if (!isText(protocolVersion)) {
    return 'no_version';
  }
  return SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? undefined : 'unsupported_version';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const END_OF_LINE = /\r\n|\r|\n/;
const DATA = /^data(?::|$)/;

/** Cleans a parsed JSON value. Returns the value itself if there is nothing to clean. */
type Clean = (value: unknown) => unknown;

/** Wraps a response so that its JSON body, or the JSON in each event of its stream, is cleaned when read. */
export function cleanedResponse(response: Response, clean: Clean): Response {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type) && response.body !== null) {
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(new TransformStream(new EventCleaner(clean))), {
      status,
      headers,
    });
  }
  const read = response.json.bind(response);
  return Object.defineProperty(response, 'json', { value: async () => clean(await read()) });
}

/** Cleans the data of each event of an event stream (WHATWG HTML, 9.2.6). Buffers only one event. */
class EventCleaner implements Transformer<Uint8Array, Uint8Array> {
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private line = '';
  private endsInReturn = false;
  private data: string | undefined;

  constructor(private readonly clean: Clean) {}

  transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
    const decoded = this.decoder.decode(chunk, { stream: true });
    if (decoded === '') {
      return;
    }
    // The last chunk ended with the CR of a CR LF.
    const text = this.endsInReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.endsInReturn = decoded.endsWith('\r');
    const [first = '', ...more] = text.split(END_OF_LINE);
    this.line += first;
    let passed = '';
    for (const next of more) {
      passed += this.passed(this.line);
      this.line = next;
    }
    if (passed !== '') {
      controller.enqueue(this.encoder.encode(passed));
    }
  }

  private passed(line: string): string {
    if (DATA.test(line)) {
      const value = line.slice(5).replace(/^ /, '');
      this.data = this.data === undefined ? value : `${this.data}\n${value}`;
      return '';
    }
    const data = line === '' ? this.data : undefined;
    this.data = line === '' ? undefined : this.data;
    return data === undefined ? `${line}\n` : `data: ${this.cleaned(data).replaceAll('\n', '\ndata: ')}\n\n`;
  }

  private cleaned(data: string): string {
    try {
      const value: unknown = JSON.parse(data);
      const cleaned = this.clean(value);
      return cleaned === value ? data : JSON.stringify(cleaned);
    } catch {
      // The library handles data that is not JSON or nested too deeply.
      return data;
    }
  }
}
