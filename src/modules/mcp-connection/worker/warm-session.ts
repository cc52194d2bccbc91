import type { RequestId } from '@modelcontextprotocol/client';

import type { KeptSockets } from '../../../common/outbound/kept-sockets.js';
import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { within } from '../../../common/deadline.js';
import { RequestIds } from './raw-requests.js';
import type { OpenedSession, OpenSession, SessionOpener, SessionTarget } from './session-opener.js';
import { type ServerStream, STREAM_LIMITS } from './server-stream.js';
import type { SessionFacts } from './session-transport.js';
import { SharedWork } from './shared-work.js';

const FAREWELL_MS = 1_000;
/** A call waits this long for the stream of a new session, on which its tool may ask something. */
const STREAM_MS = 1_000;

/** A refresh follows a minute after it was announced, so what changes in between need not be announced. */
const ANNOUNCE_MS = 60_000;

/**
 * A server between calls: its sockets, the agreement with it, and the fingerprints of its tools. Opened and read again by the
 * first call that needs it; calls at one moment share that, and it ends when none waits any more.
 */
export class WarmSession implements OpenSession {
  readonly sockets: KeptSockets;
  readonly ids = new RequestIds();
  /** Calls under way. */
  users = 0;
  idleTimer: NodeJS.Timeout | undefined;
  private opened: OpenedSession | undefined;
  private flight: SharedWork<OpenedSession> | undefined;
  /** When the server last said that its list of tools has changed, by performance.now(). */
  private changedAt = Number.NEGATIVE_INFINITY;
  private announcedAt = Number.NEGATIVE_INFINITY;
  /** Calls under way on each MCP session; more than one once a session was replaced. */
  private readonly calls = new Map<SessionFacts, number>();
  /** Given up for another, but not yet ended on the server. */
  private readonly replaced = new Set<SessionFacts>();
  private stream: ServerStream | undefined;
  private isClosed = false;
  private readonly farewells = new Set<Promise<void>>();

  constructor(
    readonly target: SessionTarget,
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
    /** Hears, at most once in ANNOUNCE_MS, that the list of tools has changed. */
    private readonly onListChanged: () => void = () => undefined,
  ) {
    this.sockets = outbound.keepSockets(target.tls);
  }

  /**
   * The session, opened or its tools read again if need be.
   * @param notBefore moment of performance.now() that its list of tools must not be older than
   * @param waiter the operation of the call; its end ends the waiting
   * @throws ConnectionError
   */
  async ready(notBefore: number, waiter: OutboundOperation): Promise<OpenedSession> {
    // Changes from now on are for later calls: a server that never stops announcing them must not hold up this one.
    const since = Math.max(notBefore, this.changedAt);
    for (;;) {
      if (this.opened !== undefined && this.opened.listedAt >= since) {
        return this.opened;
      }
      await (this.flight ?? this.takeOff()).wait(waiter);
    }
  }

  /** Runs a call on an MCP session, which is not ended on the server before the call is over. */
  async use<T>({ facts }: OpenedSession, run: () => Promise<T>): Promise<T> {
    this.calls.set(facts, (this.calls.get(facts) ?? 0) + 1);
    try {
      return await run();
    } finally {
      const left = (this.calls.get(facts) ?? 1) - 1;
      if (left > 0) {
        this.calls.set(facts, left);
      } else {
        this.calls.delete(facts);
        this.leaveReplaced();
      }
    }
  }

  /** The list of tools counts as old from now on, and so does one that is being read. */
  listChanged(): void {
    this.changedAt = performance.now();
    if (this.changedAt - this.announcedAt >= ANNOUNCE_MS) {
      this.announcedAt = this.changedAt;
      this.onListChanged();
    }
  }

  /** Since 2026-07-28 the end of the stream says so; before, a notification does, best effort. */
  abandoned(facts: SessionFacts, request: RequestId): void {
    if (!facts.isModern) {
      this.say((operation) => this.opener.cancel(this, facts, operation, request));
    }
  }

  /** The server does not know this session any more; the next call opens another. */
  forget(session: OpenedSession): void {
    if (this.opened === session) {
      this.opened = undefined;
    }
  }

  /** Ends the MCP sessions on the server, best effort, and closes all sockets. */
  async close(): Promise<void> {
    clearTimeout(this.idleTimer);
    this.isClosed = true;
    await this.stream?.close();
    if (this.opened !== undefined) {
      this.replaced.add(this.opened.facts);
    }
    this.calls.clear();
    // What was cancelled is told before the session is over.
    await Promise.all(this.farewells);
    this.leaveReplaced();
    await Promise.all(this.farewells);
    await this.sockets.close();
  }

  /** A call may still be under way on a session that another call found wanting. */
  private leaveReplaced(): void {
    for (const facts of this.replaced) {
      if (!this.calls.has(facts)) {
        this.replaced.delete(facts);
        if (facts.sessionId !== undefined) {
          this.say((operation) => this.opener.takeLeave(this, facts, operation));
        }
      }
    }
  }

  /** Says something to the server in an operation of its own that nobody waits for. */
  private say(words: (operation: OutboundOperation) => Promise<void>): void {
    const operation = this.outbound.open(this.opener.limits(FAREWELL_MS), this.sockets);
    const said = words(operation)
      .catch(() => undefined)
      .then(() => operation.close())
      .finally(() => this.farewells.delete(said));
    this.farewells.add(said);
  }

  private takeOff(): SharedWork<OpenedSession> {
    const operation = this.outbound.open(this.opener.limits(), this.sockets);
    const reading = this.read(operation).finally(() => {
      this.flight = undefined;
    });
    this.flight = new SharedWork(operation, reading);
    return this.flight;
  }

  private async read(operation: OutboundOperation): Promise<OpenedSession> {
    const known = this.opened;
    const again = known && (await this.opener.readAgain(this, known, operation));
    this.opened = again ?? (await this.opener.open(this.target, operation));
    if (known !== undefined && again === undefined) {
      this.replaced.add(known.facts);
      this.leaveReplaced();
    }
    await this.listen(this.opened);
    return this.opened;
  }

  private async listen(opened: OpenedSession): Promise<void> {
    if (this.isClosed || this.stream?.isFor(opened.facts) === true) {
      return;
    }
    await this.stream?.close();
    this.stream = this.opener.listen(this, opened, () => this.outbound.open(STREAM_LIMITS, this.sockets));
    if (this.stream !== undefined) {
      await within(STREAM_MS, this.stream.answered, () => undefined);
    }
  }
}
