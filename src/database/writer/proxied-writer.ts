import type { ConnectionOptions } from 'mysql2';
import { HostProbe } from './host-probe.js';
import { WriterCheck } from './writer-check.js';

/** The server behind one address that leads to whichever of several takes the writes. */
export class ProxiedWriter {
  private readonly check: WriterCheck;

  /** @param silenceMs longest time of one look */
  constructor(options: ConnectionOptions, silenceMs: number) {
    // Nobody names the members of a group to a service that knows the proxy alone, so its user need not see them.
    this.check = new WriterCheck(new HostProbe(options, silenceMs, false));
    void this.check.isWriter();
  }

  /**
   * Whether the server takes the writes that was asked since a moment. The connection has to be older than that: the proxy ends all
   * connections to a server that lost its part, so that a new one may lead elsewhere.
   * @param since on the clock of `performance.now()`
   */
  async isSince(since: number): Promise<boolean> {
    const isWriter = await this.check.isWriter();
    const { openedAt } = this.check;
    return isWriter && openedAt !== undefined && openedAt < since;
  }

  end(): void {
    this.check.end();
  }
}
