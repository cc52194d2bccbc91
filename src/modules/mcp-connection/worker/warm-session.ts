import type { KeptSockets } from '../../../common/outbound/kept-sockets.js';
import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { SystemCredentials } from '../connection-test.types.js';
import { RequestIds } from './raw-requests.js';
import type { OpenedSession, SessionOpener } from './session-opener.js';

const FAREWELL_MS = 1_000;

/** Where a session leads and with which credentials. */
export interface SessionTarget {
  baseUrl: string;
  credentials: SystemCredentials;
}

interface Flight {
  promise: Promise<OpenedSession>;
  operation: OutboundOperation;
  waiters: number;
}

/**
 * What is kept of a server between calls: its sockets, what was agreed with it and the fingerprints of its tools. Opened
 * and read again by the first call that needs it; calls at one moment share that, and it ends when none waits any more.
 */
export class WarmSession {
  readonly sockets: KeptSockets;
  readonly ids = new RequestIds();
  /** Calls under way. */
  users = 0;
  idleTimer: NodeJS.Timeout | undefined;
  private opened: OpenedSession | undefined;
  private flight: Flight | undefined;

  constructor(
    readonly target: SessionTarget,
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
  ) {
    this.sockets = outbound.keepSockets();
  }

  /**
   * The session, opened or its tools read again if need be.
   * @param notBefore moment of performance.now() that its list of tools must not be older than
   * @param waiter the operation of the call; its end ends the waiting
   * @throws ConnectionError
   */
  async ready(notBefore: number, waiter: OutboundOperation): Promise<OpenedSession> {
    for (;;) {
      if (this.opened !== undefined && this.opened.listedAt >= notBefore) {
        return this.opened;
      }
      await this.wait(waiter);
    }
  }

  /** The list of tools counts as old from now on. */
  listChanged(): void {
    if (this.opened !== undefined) {
      this.opened.listedAt = Number.NEGATIVE_INFINITY;
    }
  }

  /** The server does not know this session any more; the next call opens another. */
  forget(session: OpenedSession): void {
    if (this.opened === session) {
      this.opened = undefined;
    }
  }

  /** Ends the MCP session on the server, best effort, and closes all sockets. */
  async close(): Promise<void> {
    clearTimeout(this.idleTimer);
    if (this.opened?.facts.sessionId !== undefined) {
      const operation = this.outbound.open(this.opener.limits(FAREWELL_MS), this.sockets);
      await this.opener.takeLeave(this, this.opened, operation);
      await operation.close();
    }
    await this.sockets.close();
  }

  private async wait(waiter: OutboundOperation): Promise<void> {
    const flight = this.flight ?? this.takeOff();
    flight.waiters += 1;
    try {
      await waiter.race(flight.promise);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0) {
        await flight.operation.close();
      }
    }
  }

  private takeOff(): Flight {
    const operation = this.outbound.open(this.opener.limits(), this.sockets);
    const flight: Flight = { promise: this.read(operation), operation, waiters: 0 };
    flight.promise
      .catch(() => undefined)
      .finally(() => {
        this.flight = undefined;
      });
    this.flight = flight;
    return flight;
  }

  private async read(operation: OutboundOperation): Promise<OpenedSession> {
    const known = this.opened;
    const again = known && (await this.opener.readAgain(this, known, operation).catch(() => undefined));
    this.opened = again ?? (await this.opener.open(this.target, operation));
    return this.opened;
  }
}
