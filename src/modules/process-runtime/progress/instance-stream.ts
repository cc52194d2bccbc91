import type { ProgressSink } from './instance-progress.types.js';

/** Sends what is new to one connection. @returns whether there can be more */
type Pump = (stream: InstanceStream) => Promise<boolean>;

/** One connection that follows one instance. What it is told while it is sending is sent right after that. */
export class InstanceStream {
  /** Number of the last event that was sent. */
  seq = 0;
  /** Revision of the instance at the last look. */
  rev = 0;
  private isDirty = false;
  private isBusy = false;
  /** Writes for which there is no room yet. */
  private waiting = 0;
  private isEnded = false;

  constructor(
    readonly instanceId: number,
    readonly caller: string,
    private readonly sink: ProgressSink,
    private readonly pump: Pump,
    private readonly onEnd: (stream: InstanceStream) => void,
  ) {}

  /** The instance may have changed. */
  wake(): void {
    this.isDirty = true;
    if (!this.isBusy) {
      void this.run();
    }
  }

  /** Sends an event (HTML, "Server-sent events", 9.2.6). JSON has no line breaks. */
  async send(event: string, id: number, data: unknown): Promise<void> {
    await this.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Sends a comment, so that nobody in between takes the connection for dead; never to one that takes nothing. */
  beat(): void {
    if (this.waiting === 0) {
      void this.write(': still here\n\n');
    }
  }

  end(): void {
    if (!this.isEnded) {
      this.isEnded = true;
      this.onEnd(this);
      this.sink.end();
    }
  }

  private async write(text: string): Promise<void> {
    if (this.isEnded) {
      return;
    }
    this.waiting += 1;
    try {
      await this.sink.write(text);
    } finally {
      this.waiting -= 1;
    }
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    try {
      while (this.isDirty && !this.isEnded) {
        this.isDirty = false;
        if (!(await this.pump(this))) {
          this.end();
        }
      }
    } catch {
      // The client connects again and goes on where it was.
      this.end();
    } finally {
      this.isBusy = false;
    }
  }
}
