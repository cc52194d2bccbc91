import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Transport,
  METHOD_NOT_FOUND,
  ProtocolError,
  type RequestId,
} from '@modelcontextprotocol/client';
import { ServerError, serverErrorOf } from './connection.error.js';
import { within } from '../../../platform/concurrency/deadline.js';
import type { RequestIds } from './request-ids.js';
import {
  continuedTransport,
  type McpHttpTransport,
  type McpSessionOptions,
  type SessionFacts,
  STREAM_ENDED,
  type Traffic,
  withEnvelope,
} from './session-transport.js';

interface Pending {
  resolve(result: Record<string, unknown>): void;
  reject(error: unknown): void;
}

/** Callbacks for messages of a server other than answers. */
interface ServerMessages {
  onNotification?: (method: string) => void;
  onRequest?: (request: JSONRPCRequest) => void;
}

/** Sends JSON-RPC requests without the library's result schemas, which reject a whole list for one malformed tool. */
export class RawRequests {
  private readonly pending = new Map<number, Pending>();

  /** @param ids shared by all transports of one MCP session, because servers distinguish streams by request ids */
  constructor(
    private readonly transport: Transport,
    private readonly ids: RequestIds,
    { onNotification, onRequest }: ServerMessages = {},
  ) {
    const forward = transport.onmessage;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's transport is no EventTarget
    transport.onmessage = (message, extra) => {
      if ('method' in message && 'id' in message) {
        onRequest?.(message);
      } else if ('method' in message) {
        this.ids.handle(message);
        onNotification?.(message.method);
      }
      if (!this.settle(message)) {
        forward?.(message, extra);
      }
    };
  }

  /**
   * Sends a request.
   * @param onProgress called for each progress notification, which the request then asks the server to send
   * @returns the raw result object
   * @throws ServerError for a JSON-RPC error, even with an HTTP error status; errors of the transport
   */
  send(
    method: string,
    params: Record<string, unknown>,
    options: Parameters<Transport['send']>[1] = {},
    onProgress?: () => void,
  ): Promise<Record<string, unknown>> {
    const id = this.ids.next();
    let sent = params;
    if (onProgress !== undefined) {
      sent = { ...params, _meta: { ...(params['_meta'] as object | undefined), progressToken: id } };
      this.ids.listen(id, onProgress);
    }
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.transport.send({ jsonrpc: '2.0', id, method, params: sent }, options).catch((error: unknown) => {
        this.forget(id);
        reject(serverErrorOf(error, id) ?? error);
      });
    });
  }

  /** Ids of sent requests without an answer. */
  get unanswered(): number[] {
    return [...this.pending.keys()];
  }

  private settle(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) {
      return false;
    }
    const id = Number(message.id);
    const pending = this.pending.get(id);
    this.forget(id);
    if (pending === undefined) {
      return false;
    }
    if ('error' in message) {
      pending.reject(new ServerError(message.error.code, message.error.message, true));
    } else {
      pending.resolve(message.result);
    }
    return true;
  }

  private forget(id: number): void {
    this.pending.delete(id);
    this.ids.forget(id);
  }
}

/** Time for a server to end the stream of an answer before the connection is closed instead of reused. */
const STREAM_END_MS = 250;
/** Maximum concurrent answers to requests of a server. Further requests of a flooding server are ignored. */
const MAX_ANSWERS = 16;
const LIST_CHANGED = 'notifications/tools/list_changed';

/** Session interface for exchanges. */
export interface ExchangeSession {
  readonly ids: RequestIds;
  /** Called when the server reports a changed tool list. */
  listChanged(): void;
  /** Called when a request is abandoned. */
  abandoned(facts: SessionFacts, request: RequestId): void;
}

/** State that an exchange shares with others of its session. */
interface ExchangeContext {
  facts: SessionFacts;
  session: ExchangeSession;
  traffic: Traffic;
}

/** One request and its answer within a session over Streamable HTTP, in its own operation. */
export class McpExchange {
  private readonly transport: McpHttpTransport;
  private readonly raw: RawRequests;
  private isAnswered = false;
  private answering = 0;

  constructor(
    private readonly options: McpSessionOptions,
    private readonly context: ExchangeContext,
  ) {
    this.transport = continuedTransport(options, context.facts, context.traffic);
    this.raw = new RawRequests(this.transport, context.session.ids, {
      onNotification: (method) => {
        if (method === LIST_CHANGED) {
          context.session.listChanged();
        }
      },
      // Servers send no requests since revision 2026-07-28.
      ...(context.facts.isModern ? {} : { onRequest: (request) => this.answer(request) }),
    });
  }

  /**
   * Sends the request.
   * @param onProgress called for each progress notification on any stream of the session
   * @throws errors of the library; see `connectionErrorOf`
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    { headers = {}, onProgress }: { headers?: Record<string, string>; onProgress?: () => void } = {},
  ): Promise<Record<string, unknown>> {
    await this.transport.start();
    const enveloped = withEnvelope(params, this.context.facts, this.options.traceparent);
    const { operation } = this.options;
    try {
      const result = await operation.race(this.raw.send(method, enveloped, { headers }, onProgress));
      this.isAnswered = true;
      return result;
    } finally {
      const { facts, session, traffic } = this.context;
      for (const request of this.raw.unanswered) {
        session.ids.forget(request);
        if (traffic.posted === true && operation.signal.aborted) {
          session.abandoned(facts, request);
        }
      }
    }
  }

  /** Sends a notification, best effort. */
  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    await this.transport.start();
    const sent = this.transport.send({ jsonrpc: '2.0', method, params });
    await this.options.operation.race(sent).catch(() => undefined);
  }

  /**
   * Opens the stream of the session for messages that belong to no request (since revision 2026-07-28, a subscription to changes of the
   * tool list) and reads it until this exchange is closed.
   * @param onEnd called when an open stream ends, or cannot be opened for a temporary reason
   * @returns after the answer of the server, or immediately for a subscription; never rejects
   */
  async listen(onEnd: () => void): Promise<void> {
    await this.transport.start();
    const { facts } = this.context;
    if (facts.isModern) {
      const params = withEnvelope({ notifications: { toolsListChanged: true } }, facts, undefined);
      this.raw.send('subscriptions/listen', params).then(onEnd, (error: unknown) => {
        if (!(error instanceof ProtocolError) || error.code === STREAM_ENDED) {
          onEnd();
        }
      });
      return;
    }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's transport is no EventTarget
    this.transport.onerror = () => {
      const { latest } = this.context.traffic;
      if (latest < 400 || latest >= 500) {
        onEnd();
      }
    };
    await this.transport.resumeStream('').catch(() => undefined);
  }

  /** Ends the MCP session on the server, best effort. */
  async endSession(): Promise<void> {
    await this.transport.start();
    await this.options.operation.race(this.transport.terminateSession()).catch(() => undefined);
  }

  /** Closes the exchange. After an answer, waits briefly for the end of its stream, so that the connection can be reused. */
  async close(): Promise<void> {
    const ended = this.transport.streamEnd.then(() => true);
    const isStreamOver = async (): Promise<boolean> =>
      this.context.traffic.streams !== true || within(STREAM_END_MS, ended, () => false);
    if (!this.isAnswered || !(await isStreamOver())) {
      await this.transport.close();
    }
  }

  /** Answers `ping`, and any other method with an error, best effort, because servers of the 2025 revisions wait for an answer. */
  private answer({ id, method }: JSONRPCRequest): void {
    if (this.answering >= MAX_ANSWERS) {
      return;
    }
    this.answering += 1;
    const unknown = { code: METHOD_NOT_FOUND, message: 'Method not found' };
    void this.transport
      .send({ jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error: unknown }) })
      .catch(() => undefined)
      .finally(() => {
        this.answering -= 1;
      });
  }
}
