import type { HostProbe, HostState } from './host-probe.js';

/**
 * Asks a host, over a connection that is kept for it, whether it takes the writes at this moment. Who asks while a look is under way
 * gets the answer of the next one, together with all who came meanwhile.
 */
export class WriterCheck {
  private running: Promise<HostState> | undefined;
  private next: Promise<HostState> | undefined;

  constructor(private readonly probe: HostProbe) {}

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
