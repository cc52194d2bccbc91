import type { RequestId } from '@modelcontextprotocol/client';

import type { KeptSockets } from '../../../platform/outbound/dial.js';
import type { OutboundClient } from '../../../platform/outbound/outbound.client.js';
import { LIGHT_BYTES, type OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { within } from '../../../platform/concurrency/deadline.js';
import { ToolCallError } from './connection.error.js';
import type { McpExchange } from './mcp-exchange.js';
import { RequestIds } from './request-ids.js';
import type { OpenedSession, OpenSession, SessionOpener, SessionTarget } from './session-opener.js';
import type { SessionFacts } from './session-transport.js';
import { SharedWork } from './shared-work.js';
import type { ToolCallNotice } from './worker.messages.js';

const FAREWELL_MS = 1_000;
/** A call waits this long for the stream of a new session, on which its tool may ask something. */
const STREAM_MS = 1_000;
/** A stream lives as long as its session, and ends when the server has sent this much. */
const STREAM_LIMITS = {
  deadlineMs: 2_147_483_647,
  maxResponseBytes: LIGHT_BYTES,
  maxTotalBytes: LIGHT_BYTES,
};
/** A refresh follows a minute after it was announced, so what changes in between need not be announced. */
const ANNOUNCE_MS = 60_000;

/** A server between calls: sockets, agreement, fingerprints of tools. Calls at one moment share a reading. */
export class WarmSession implements OpenSession {
  readonly sockets: KeptSockets;
  readonly ids = new RequestIds();
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
  /** For what belongs to no request: requests that the tool of a call waits for, or that the list has changed. */
  private stream: { facts: SessionFacts; isOver: boolean; close: () => Promise<void> } | undefined;
  private isClosed = false;
  private readonly farewells = new Set<Promise<void>>();

  /** @param onListChanged hears, at most once in ANNOUNCE_MS, that the list of tools has changed */
  constructor(
    readonly target: SessionTarget,
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
    private readonly onListChanged: () => void,
  ) {
    this.sockets = outbound.keepSockets(target.tls);
  }

  /**
   * The session, opened or its tools read again if need be.
   * @param notBefore moment of performance.now() that its list of tools must not be older than
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
  abandoned(facts: SessionFacts, requestId: RequestId): void {
    if (!facts.isModern) {
      const params = { requestId, reason: 'Nobody waits for it any more' };
      this.say(facts, (exchange) => exchange.notify('notifications/cancelled', params));
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
          this.say(facts, (exchange) => exchange.endSession());
        }
      }
    }
  }

  /** Says something to the server in an operation of its own that nobody waits for. */
  private say(facts: SessionFacts, words: (exchange: McpExchange) => Promise<void>): void {
    const operation = this.outbound.open(this.opener.limits(FAREWELL_MS), this.sockets);
    const exchange = this.opener.exchange(this, facts, { operation });
    const said = words(exchange)
      .then(() => exchange.close())
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
    this.opened = again ?? (await this.opener.open(this, operation));
    if (known !== undefined && again === undefined) {
      this.replaced.add(known.facts);
      this.leaveReplaced();
    }
    await this.listen(this.opened);
    return this.opened;
  }

  private async listen({ facts }: OpenedSession): Promise<void> {
    if (this.isClosed || (this.stream?.facts === facts && !this.stream.isOver)) {
      return;
    }
    await this.stream?.close();
    this.stream = undefined;
    if (facts.isModern ? facts.announcesTools : facts.sessionId !== undefined) {
      const operation = this.outbound.open(STREAM_LIMITS, this.sockets);
      const exchange = this.opener.exchange(this, facts, { operation, listens: true });
      const close = (): Promise<void> => exchange.close().then(() => operation.close());
      const stream = { facts, isOver: false, close };
      this.stream = stream;
      const onEnd = (): void => {
        stream.isOver = true;
      };
      await within(STREAM_MS, exchange.listen(onEnd), () => undefined);
    }
  }
}

/** Keeps sessions with servers open between calls, the oldest idle one giving way to a new one. */
export class WarmSessions {
  /** In the order of last use. */
  private readonly sessions = new Map<string, WarmSession>();

  /** @param onNotice hears how many sessions there are whenever that changes, and of lists that have changed */
  constructor(
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
    private readonly limits: { maxSessions: number; idleMs: number },
    private readonly onNotice: (notice: ToolCallNotice) => void,
  ) {}

  /** The session of this key, open until given back. @throws ToolCallError `overloaded` */
  take(key: string, target: SessionTarget): WarmSession {
    const session = this.sessions.get(key) ?? this.add(key, target);
    clearTimeout(session.idleTimer);
    session.users += 1;
    this.sessions.delete(key);
    this.sessions.set(key, session);
    return session;
  }

  giveBack(key: string, session: WarmSession): void {
    session.users -= 1;
    if (session.users === 0) {
      session.idleTimer = setTimeout(() => void this.remove(key, session), this.limits.idleMs);
    }
  }

  /** Closes every session. */
  async close(): Promise<void> {
    await Promise.all([...this.sessions].map(([key, session]) => this.remove(key, session)));
  }

  private add(key: string, target: SessionTarget): WarmSession {
    if (this.sessions.size >= this.limits.maxSessions) {
      const idle = [...this.sessions].find(([, { users }]) => users === 0);
      if (idle === undefined) {
        throw new ToolCallError('overloaded');
      }
      void this.remove(...idle);
    }
    const onListChanged = (): void => this.onNotice({ listChanged: target.systemId });
    const session = new WarmSession(target, this.outbound, this.opener, onListChanged);
    this.sessions.set(key, session);
    this.onNotice({ openSessions: this.sessions.size });
    return session;
  }

  private async remove(key: string, session: WarmSession): Promise<void> {
    this.sessions.delete(key);
    this.onNotice({ openSessions: this.sessions.size });
    await session.close();
  }
}
