import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'mysql2';
import { WriterCheck } from './writer-check.js';
import type { WriterRules } from './writer-watch.js';

/** The server behind one address that leads to whichever of several takes the writes. */
export class ProxiedWriter {
  private readonly check: WriterCheck;
  private isEnded = false;

  constructor(
    options: ConnectionOptions,
    private readonly rules: Pick<WriterRules, 'everyMs' | 'silenceMs'>,
  ) {
    this.check = new WriterCheck(options, rules.silenceMs);
    void this.keep();
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
    this.isEnded = true;
    this.check.end();
  }

  /** Proxies end connections on which nothing is said, too: another one is opened before somebody needs it. It costs nothing while there is one. */
  private async keep(): Promise<void> {
    while (!this.isEnded) {
      if (this.check.openedAt === undefined) {
        await this.check.isWriter();
      }
      await sleep(this.rules.everyMs, undefined, { ref: false });
    }
    this.check.end();
  }
}
