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
/** Time that a call waits for the stream of a new session, on which its tool may send requests. */
const STREAM_MS = 1_000;
/** Limits of a stream, which lives as long as its session or until the server has sent this many bytes. */
const STREAM_LIMITS = {
  deadlineMs: 2_147_483_647,
  maxResponseBytes: LIGHT_BYTES,
  maxTotalBytes: LIGHT_BYTES,
};
/** Minimum interval between announcements. A refresh runs one minute after an announcement, so changes in between need none. */
const ANNOUNCE_MS = 60_000;

/** Reusable session with a server: sockets, negotiated facts and hashes of tools. Concurrent calls share one refresh. */
export class WarmSession implements OpenSession {
  readonly sockets: KeptSockets;
  readonly ids = new RequestIds();
  users = 0;
  idleTimer: NodeJS.Timeout | undefined;
  private opened: OpenedSession | undefined;
  private flight: SharedWork<OpenedSession> | undefined;
  /** When the server last reported a changed tool list, as `performance.now()`. */
  private changedAt = Number.NEGATIVE_INFINITY;
  private announcedAt = Number.NEGATIVE_INFINITY;
  /** Number of calls in flight on each MCP session. Has several sessions after one was replaced. */
  private readonly calls = new Map<SessionFacts, number>();
  /** Replaced sessions that are not yet ended on the server. */
  private readonly replaced = new Set<SessionFacts>();
  /** Stream for messages that belong to no request: requests of the server during a call, and changes of the tool list. */
  private stream: { facts: SessionFacts; isOver: boolean; close: () => Promise<void> } | undefined;
  private isClosed = false;
  private readonly farewells = new Set<Promise<void>>();

  /** @param onListChanged called when the tool list changes, at most once per ANNOUNCE_MS */
  constructor(
    readonly target: SessionTarget,
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
    private readonly onListChanged: () => void,
  ) {
    this.sockets = outbound.keepSockets(target.tls);
  }

  /**
   * Returns the session, after opening it or refreshing its tools if necessary.
   * @param notBefore earliest allowed time of its tool list, as `performance.now()`
   * @throws ConnectionError
   */
  async ready(notBefore: number, waiter: OutboundOperation): Promise<OpenedSession> {
    // Ignores later changes, so that a server that announces them endlessly cannot block this call.
    const since = Math.max(notBefore, this.changedAt);
    for (;;) {
      if (this.opened !== undefined && this.opened.listedAt >= since) {
        return this.opened;
      }
      await (this.flight ?? this.startRefresh()).wait(waiter);
    }
  }

  /** Runs a call on an MCP session and keeps the session on the server until the call ends. */
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

  /** Marks the tool list as outdated, including one that is currently being read. */
  listChanged(): void {
    this.changedAt = performance.now();
    if (this.changedAt - this.announcedAt >= ANNOUNCE_MS) {
      this.announcedAt = this.changedAt;
      this.onListChanged();
    }
  }

  /** Sends a cancellation, best effort. Since revision 2026-07-28, closing the stream is sufficient. */
  abandoned(facts: SessionFacts, requestId: RequestId): void {
    if (!facts.isModern) {
      const params = { requestId, reason: 'The result is no longer needed' };
      this.sendAside(facts, (exchange) => exchange.notify('notifications/cancelled', params));
    }
  }

  /** Forgets a session that the server no longer knows, so that the next call opens a new one. */
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
    // Waits for cancellations to be sent before the session ends.
    await Promise.all(this.farewells);
    this.leaveReplaced();
    await Promise.all(this.farewells);
    await this.sockets.close();
  }

  /** Ends replaced sessions without calls in flight. */
  private leaveReplaced(): void {
    for (const facts of this.replaced) {
      if (!this.calls.has(facts)) {
        this.replaced.delete(facts);
        if (facts.sessionId !== undefined) {
          this.sendAside(facts, (exchange) => exchange.endSession());
        }
      }
    }
  }

  /** Sends a message to the server in a separate operation, without waiting for it. */
  private sendAside(facts: SessionFacts, send: (exchange: McpExchange) => Promise<void>): void {
    const operation = this.outbound.open(this.opener.limits(FAREWELL_MS), this.sockets);
    const exchange = this.opener.exchange(this, facts, { operation });
    const sent = send(exchange)
      .then(() => exchange.close())
      .catch(() => undefined)
      .then(() => operation.close())
      .finally(() => this.farewells.delete(sent));
    this.farewells.add(sent);
  }

  private startRefresh(): SharedWork<OpenedSession> {
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

/** Keeps sessions with servers open between calls. A new session replaces the oldest idle one when there are too many. */
export class WarmSessions {
  /** Sessions by key, in the order of last use. */
  private readonly sessions = new Map<string, WarmSession>();

  /** @param onNotice called when the number of sessions or a tool list changes */
  constructor(
    private readonly outbound: OutboundClient,
    private readonly opener: SessionOpener,
    private readonly limits: { maxSessions: number; idleMs: number },
    private readonly onNotice: (notice: ToolCallNotice) => void,
  ) {}

  /** Returns the session of a key and keeps it open until `giveBack`. @throws ToolCallError `overloaded` */
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

  /** Closes all sessions. */
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
