import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { UnavailableError } from '../errors/domain.error.js';

/** Another replica takes the request at once. */
const RETRY_AFTER_SECONDS = 1;
/** Whoever asks how the replica is, gets an answer to the end. */
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
  private readonly underWay = new Set<ServerResponse>();
  private readonly onClose: (() => void)[] = [];
  private onEmpty: (() => void) | undefined;

  /** Whether new requests are refused. */
  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Knows from now on of every request of a server, before anything else does. */
  watch(server: Server): void {
    this.servers.push(server);
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.underWay.add(response);
      response.once('close', () => this.forget(response));
      if (this.state !== 'open') {
        lastOfItsConnection(response);
      }
    });
  }

  /** Answers that are still to come close their connections (RFC 9112, section 9.6). */
  leave(): void {
    this.state = 'leaving';
    this.underWay.forEach(lastOfItsConnection);
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
   * Listens no more and closes every connection, when the last request has been answered. Connections that were opened for
   * later, as proxies and browsers do, would hold the end of the replica: Node takes them for requests under way.
   */
  async disconnect(): Promise<void> {
    await this.empty();
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private async empty(): Promise<void> {
    while (this.underWay.size > 0) {
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

  private forget(response: ServerResponse): void {
    this.underWay.delete(response);
    if (this.underWay.size === 0) {
      this.onEmpty?.();
    }
  }
}

function lastOfItsConnection(response: ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader('Connection', 'close');
  }
}
