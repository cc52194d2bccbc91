import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { ToolCallNotice } from './tool-call.messages.js';
import type { SessionOpener, SessionTarget } from './session-opener.js';
import { ToolCallError } from './tool-call.error.js';
import { WarmSession } from './warm-session.js';

/** Bounds of the sessions that are kept. */
export interface WarmSessionsOptions {
  outbound: OutboundClient;
  opener: SessionOpener;
  maxSessions: number;
  /** Milliseconds after which a session that nobody uses is closed. */
  idleMs: number;
  /** Hears how many sessions there are whenever that changes, and of lists that have changed. */
  onNotice: (notice: ToolCallNotice) => void;
}

/** Keeps sessions with servers open between calls, the oldest idle one giving way to a new one. */
export class WarmSessions {
  private readonly sessions = new Map<string, WarmSession>();

  constructor(private readonly options: WarmSessionsOptions) {}

  /**
   * The session of this key, which stays open until as many have given it back as have taken it.
   * @throws ToolCallError `overloaded` when there are too many sessions and all are in use
   */
  take(key: string, target: SessionTarget): WarmSession {
    const session = this.sessions.get(key) ?? this.add(key, target);
    clearTimeout(session.idleTimer);
    session.users += 1;
    // The order of the map is that of last use.
    this.sessions.delete(key);
    this.sessions.set(key, session);
    return session;
  }

  giveBack(key: string, session: WarmSession): void {
    session.users -= 1;
    if (session.users === 0) {
      session.idleTimer = setTimeout(() => void this.remove(key, session), this.options.idleMs);
    }
  }

  /** Closes every session. */
  async close(): Promise<void> {
    await Promise.all([...this.sessions].map(([key, session]) => this.remove(key, session)));
  }

  private add(key: string, target: SessionTarget): WarmSession {
    if (this.sessions.size >= this.options.maxSessions) {
      const idle = [...this.sessions].find(([, { users }]) => users === 0);
      if (idle === undefined) {
        throw new ToolCallError('overloaded');
      }
      void this.remove(...idle);
    }
    const { outbound, opener, onNotice } = this.options;
    const session = new WarmSession(target, outbound, opener, () => {
      onNotice({ listChanged: target.systemId });
    });
    this.sessions.set(key, session);
    this.options.onNotice({ openSessions: this.sessions.size });
    return session;
  }

  private async remove(key: string, session: WarmSession): Promise<void> {
    this.sessions.delete(key);
    this.options.onNotice({ openSessions: this.sessions.size });
    await session.close();
  }
}
