import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Global, Module } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { UnavailableError } from '../errors/domain.error.js';

/** Another replica takes the request at once. */
const RETRY_AFTER_SECONDS = 1;
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** 503: this replica is about to end. Nothing was done, so the request may be sent again, to another one. */
export class ReplicaStoppingError extends UnavailableError {
  readonly code = 'REPLICA_STOPPING';
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS;
  constructor() {
    super('This replica of the service is stopping.', 'Send the request again.');
  }
}

/**
 * How a replica leaves without cutting a request. It *leaves*: requests are served as ever, but each answer closes its
 * connection, so that none is sent into one that is about to go. Then it is *closed*: new requests are answered 503, and
 * it waits for those under way.
 */
@Injectable()
export class StopGate {
  private state: 'open' | 'leaving' | 'closed' = 'open';
  private readonly servers: Server[] = [];
  /** Of each open connection, in the order of their requests: a client may send the next one before the first is answered. */
  private readonly underWay = new Map<Socket, Set<ServerResponse>>();
  private readonly onClose: (() => void)[] = [];
  private onEmpty: (() => void) | undefined;

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Knows from now on of every request of a server, before anything else does. */
  watch(server: Server): void {
    this.servers.push(server);
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = this.underWay.get(socket) ?? this.connection(socket);
      responses.add(response);
      response.once('close', () => {
        responses.delete(response);
        this.tellWhenEmpty();
      });
      if (this.state !== 'open') {
        closeBehindLast(responses);
      }
    });
  }

  /** Answers that are still to come close their connections (RFC 9112, section 9.6). */
  leave(): void {
    this.state = 'leaving';
    this.underWay.forEach(closeBehindLast);
  }

  /**
   * Takes no new request.
   * @returns when every request that was taken has been answered
   */
  async close(): Promise<void> {
    this.state = 'closed';
    this.onClose.forEach((listener) => listener());
    await this.empty();
  }

  /**
   * Listens no more and closes every connection, when the last request has been answered. Proxies and browsers open
   * connections for later. Those would hold the end of the replica, because Node takes them for requests under way.
   */
  async disconnect(): Promise<void> {
    await this.empty();
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private async empty(): Promise<void> {
    while (!this.isEmpty) {
      await new Promise<void>((resolve) => {
        this.onEmpty = resolve;
      });
    }
  }

  /** Calls a listener when the gate closes: answers without an end of their own have to end then. */
  whenClosed(listener: () => void): void {
    this.onClose.push(listener);
  }

  /**
   * Express middleware, before the rate limits: to be told to wait would be no answer of a replica that does not come back.
   * @throws ReplicaStoppingError
   */
  readonly middleware: RequestHandler = (request, _response, next) => {
    if (this.isClosed && !ALWAYS_ANSWERED.has(request.path)) {
      throw new ReplicaStoppingError();
    }
    next();
  };

  private connection(socket: Socket): Set<ServerResponse> {
    const responses = new Set<ServerResponse>();
    this.underWay.set(socket, responses);
    socket.once('close', () => {
      this.underWay.delete(socket);
      responses.forEach(endOfWaiting);
      this.tellWhenEmpty();
    });
    return responses;
  }

  private get isEmpty(): boolean {
    return [...this.underWay.values()].every(({ size }) => size === 0);
  }

  private tellWhenEmpty(): void {
    if (this.onEmpty !== undefined && this.isEmpty) {
      this.onEmpty();
    }
  }
}

/** Only the last answer closes: Node throws away what waits behind an answer that does. */
function closeBehindLast(responses: ReadonlySet<ServerResponse>): void {
  const open = [...responses].filter(({ headersSent }) => !headersSent);
  const last = open.pop();
  open.forEach((response) => response.removeHeader('Connection'));
  last?.setHeader('Connection', 'close');
}

/**
 * Closes a response that waits behind another on a connection that is gone. Newer releases of Node do so themselves, one tick
 * later; Node 20 closes only the response whose turn it is.
 */
function endOfWaiting(response: ServerResponse): void {
  if (response.socket !== null) {
    return;
  }
  response.destroy();
  process.nextTick(() => {
    if (!response.closed) {
      response.emit('close');
    }
  });
}

/** The one gate of the process. */
@Global()
@Module({ providers: [StopGate], exports: [StopGate] })
export class StopGateModule {}
