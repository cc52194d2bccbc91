import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Global, Module } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { UnavailableError } from '../errors/domain.error.js';

/** Short, because another replica can take the request immediately. */
const RETRY_AFTER_SECONDS = 1;
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** 503: this replica is stopping. Nothing was done, so the client can send the request again, to another replica. */
export class ReplicaStoppingError extends UnavailableError {
  readonly code = 'REPLICA_STOPPING';
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS;
  constructor() {
    super('This replica of the service is stopping.', 'Send the request again.');
  }
}

/**
 * Lets a replica stop without interrupting requests. While *leaving*, it serves requests as before, but each response
 * closes its connection, so that clients send nothing into a connection that is about to close. Once *closed*, it
 * rejects new requests with 503 and waits for the running ones.
 */
@Injectable()
export class StopGate {
  private state: 'open' | 'leaving' | 'closed' = 'open';
  private readonly servers: Server[] = [];
  /** Running requests of each open connection, in order: a client may send the next one before the first is answered. */
  private readonly underWay = new Map<Socket, Set<ServerResponse>>();
  private readonly onClose: (() => void)[] = [];
  private onEmpty: (() => void) | undefined;

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Tracks every request of a server from now on, before all other listeners. */
  watch(server: Server): void {
    this.servers.push(server);
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = this.underWay.get(socket) ?? this.connection(socket);
      responses.add(response);
      response.once('close', () => {
        responses.delete(response);
        this.resolveIfEmpty();
      });
      if (this.state !== 'open') {
        closeAfterLast(responses);
      }
    });
  }

  /** Makes outstanding responses close their connections (RFC 9112, section 9.6). */
  leave(): void {
    this.state = 'leaving';
    this.underWay.forEach(closeAfterLast);
  }

  /** Rejects new requests. Resolves when all accepted requests have been answered. */
  async close(): Promise<void> {
    this.state = 'closed';
    this.onClose.forEach((listener) => listener());
    await this.empty();
  }

  /**
   * Stops listening, and closes all connections once the last request has been answered. Proxies and browsers open
   * spare connections, which Node takes for requests in progress and would wait for.
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

  /** Calls a listener when the gate closes: endless responses must end then. */
  whenClosed(listener: () => void): void {
    this.onClose.push(listener);
  }

  /**
   * Express middleware that rejects requests once the gate is closed. It runs before the rate limits, because "try
   * again later" would be wrong for a replica that does not come back.
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
      responses.forEach(closeQueued);
      this.resolveIfEmpty();
    });
    return responses;
  }

  private get isEmpty(): boolean {
    return [...this.underWay.values()].every(({ size }) => size === 0);
  }

  private resolveIfEmpty(): void {
    if (this.onEmpty !== undefined && this.isEmpty) {
      this.onEmpty();
    }
  }
}

/** Makes only the last response close the connection: Node discards responses queued behind one that does. */
function closeAfterLast(responses: ReadonlySet<ServerResponse>): void {
  const open = [...responses].filter(({ headersSent }) => !headersSent);
  const last = open.pop();
  open.forEach((response) => response.removeHeader('Connection'));
  last?.setHeader('Connection', 'close');
}

/**
 * Closes a response that is queued behind another on a closed connection. Newer releases of Node do so themselves, one
 * tick later; Node 20 closes only the response that is being sent.
 */
function closeQueued(response: ServerResponse): void {
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

/** Provides the only gate of the process. */
@Global()
@Module({ providers: [StopGate], exports: [StopGate] })
export class StopGateModule {}
