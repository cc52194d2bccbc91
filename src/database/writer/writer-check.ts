import type { ConnectionOptions } from 'mysql2';
import { HostProbe, proveByWriting, type HostState } from './host-probe.js';

/**
 * Sees by a write, over a connection that is kept for it, whether a host takes the writes at this moment. Who asks while one is under way
 * gets the answer of the next, together with all who came meanwhile.
 */
export class WriterCheck {
  private running: Promise<HostState> | undefined;
  private next: Promise<HostState> | undefined;

  private readonly probe: HostProbe;

  /** @param limitMs longest time of one write, with the connection where there is none yet */
  constructor(options: ConnectionOptions, limitMs: number) {
    this.probe = new HostProbe(options, limitMs, proveByWriting);
  }

  /** When the connection was opened, on the clock of `performance.now()`; undefined while there is none. */
  get openedAt(): number | undefined {
    return this.probe.openedAt;
  }

  /** Never rejects. */
  async isWriter(): Promise<boolean> {
    this.next ??= this.lookAfter(this.running);
    return (await this.next).kind === 'WRITER';
  }

  end(): void {
    this.probe.end();
  }

  private async lookAfter(running: Promise<HostState> | undefined): Promise<HostState> {
    await running;
    const look = this.probe.look();
    this.running = look;
    this.next = undefined;
    return look;
  }
}
