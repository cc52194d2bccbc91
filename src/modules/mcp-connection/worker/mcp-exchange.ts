import { within } from '../../../common/within.js';
import type { McpHttpTransport } from './mcp-http.transport.js';
import { withEnvelope } from './client-envelope.js';
import { RawRequests, type RequestIds } from './raw-requests.js';
import { ServerRequests } from './server-requests.js';
import {
  continuedTransport,
  type McpSessionOptions,
  type SessionFacts,
  type Traffic,
} from './session-transport.js';

/** A server has this long to end the stream of an answer before the connection is cut instead of kept. */
const STREAM_END_MS = 250;
const LIST_CHANGED = 'notifications/tools/list_changed';

/** What an exchange shares with others of its session. */
export interface ExchangeContext {
  facts: SessionFacts;
  ids: RequestIds;
  traffic: Traffic;
  /** Hears that the server's list of tools has changed. */
  onListChanged(): void;
}

/**
 * One request and its answer within a session over Streamable HTTP, with a transport and an operation of its own. Its end ends
 * nothing else.
 */
export class McpExchange {
  private readonly transport: McpHttpTransport;
  private readonly raw: RawRequests;
  private isAnswered = false;

  constructor(
    private readonly options: McpSessionOptions,
    private readonly context: ExchangeContext,
  ) {
    this.transport = continuedTransport(options, context.facts, context.traffic);
    const requests = new ServerRequests(this.transport);
    this.raw = new RawRequests(this.transport, context.ids, {
      onNotification: (method) => {
        if (method === LIST_CHANGED) {
          context.onListChanged();
        }
      },
      // Since 2026-07-28 servers send no requests.
      ...(context.facts.isModern ? {} : { onRequest: (request) => requests.answer(request) }),
    });
  }

  /**
   * @returns the raw result
   * @throws what the library throws; see `causeOf`
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    await this.transport.start();
    const enveloped = withEnvelope(params, this.context.facts, this.options.traceparent);
    const result = await this.options.operation.race(this.raw.send(method, enveloped, { headers }));
    this.isAnswered = true;
    return result;
  }

  /**
   * Opens the stream of the session for what belongs to no request, and hears it until this is closed.
   * @param onEnd hears that an open stream has ended, or could not be opened for a reason that may pass
   * @returns when the server has answered; never rejects
   */
  async listen(onEnd: () => void): Promise<void> {
    await this.transport.start();
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

  /** Closes; after an answer only when its stream does not end by itself, so that its connection can be used again. */
  async close(): Promise<void> {
    const { traffic } = this.context;
    if (!this.isAnswered || (traffic.streams === true && !(await this.streamEnds()))) {
      await this.transport.close();
    }
  }

  private streamEnds(): Promise<boolean> {
    const ended = this.transport.streamEnd.then(() => true);
    return within(STREAM_END_MS, ended, () => false);
  }
}
