import type { Principal } from '../../platform/user/principal.js';
import type { Response } from 'express';

/** Sends new events to one connection. @returns whether more may follow */
type Pump = (stream: InstanceStream) => Promise<boolean>;

/** One connection that follows one instance. A wake-up while it is sending is handled right afterwards. */
export class InstanceStream {
  /** Number of the last sent event. */
  seq = 0;
  /** Timers to clear when the stream ends. */
  readonly timers: NodeJS.Timeout[] = [];
  /** Last known revision of the instance. */
  rev = 0;
  private isDirty = false;
  private isBusy = false;
  /** Number of writes that wait for buffer space. */
  private waiting = 0;
  private isEnded = false;

  constructor(
    readonly instanceId: number,
    private readonly sink: ProgressSink,
    private readonly pump: Pump,
    private readonly onEnd: (stream: InstanceStream) => unknown,
  ) {}

  /** Signals that the instance may have changed. */
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

  /** Sends a comment that keeps proxies from closing the connection, unless the client has stopped reading. */
  beat(): void {
    if (this.waiting === 0) {
      void this.write(': still here\n\n');
    }
  }

  end(): void {
    if (!this.isEnded) {
      this.isEnded = true;
      this.timers.forEach((timer) => clearTimeout(timer));
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
      // The client reconnects and resumes where it was.
      this.end();
    } finally {
      this.isBusy = false;
    }
  }
}

/** Output of one connection. */
export interface ProgressSink {
  /** Resolves when more can be written or the connection has closed. */
  write(text: string): Promise<void>;
  end(): void;
}

/** Request to follow an instance. */
export interface ProgressRequest {
  uuid: string;
  /** Header `Last-Event-ID`: number of the last event that the client received. */
  lastEventId: string | undefined;
  /** When the bearer token expires, in epoch milliseconds. */
  expiresAt: number;
  /** Authenticates the caller again. @throws UnauthorizedError when the token is no longer accepted */
  recheck(): Promise<Principal>;
}

const EVENT_STREAM = 'text/event-stream';

/** Sets the status and headers of an event stream. */
export function setStreamHeaders(response: Response): Response {
  response.status(200).setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
  // Proxies that compress or buffer would delay events.
  return response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
}

/** Returns a sink that writes to a response. The first write sends the headers; each write waits for buffer space. */
export function sinkOf(response: Response): ProgressSink {
  return {
    write: (text) => {
      if (!response.headersSent) {
        setStreamHeaders(response);
      }
      return response.write(text) || response.destroyed ? Promise.resolve() : drained(response);
    },
    end: () => response.end(),
  };
}

function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
