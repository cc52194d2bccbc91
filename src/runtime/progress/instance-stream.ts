import type { Principal } from '../../platform/user/principal.js';
import type { Response } from 'express';

/** Sends what is new to one connection. @returns whether there can be more */
type Pump = (stream: InstanceStream) => Promise<boolean>;

/** One connection that follows one instance. What it is told while it is sending is sent right after that. */
export class InstanceStream {
  /** Number of the last event that was sent. */
  seq = 0;
  /** What goes on for it until it ends. */
  readonly timers: NodeJS.Timeout[] = [];
  /** Revision of the instance at the last look. */
  rev = 0;
  private isDirty = false;
  private isBusy = false;
  /** Writes for which there is no room yet. */
  private waiting = 0;
  private isEnded = false;

  constructor(
    readonly instanceId: number,
    private readonly sink: ProgressSink,
    private readonly pump: Pump,
    private readonly onEnd: (stream: InstanceStream) => unknown,
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
      // The client connects again and goes on where it was.
      this.end();
    } finally {
      this.isBusy = false;
    }
  }
}

/** Where the events of one connection go. */
export interface ProgressSink {
  /** Resolves when there is room for more, or nobody listens any more. */
  write(text: string): Promise<void>;
  end(): void;
}

/** Which instance somebody follows, and from where. */
export interface ProgressRequest {
  uuid: string;
  /** Header `Last-Event-ID`: number of the last event that the caller knows. */
  lastEventId: string | undefined;
  /** When the token of the caller expires, in milliseconds since 1970. */
  expiresAt: number;
  /** Recognises the caller again. @throws UnauthorizedError when the token would not be taken now */
  recheck(): Promise<Principal>;
}

const EVENT_STREAM = 'text/event-stream';

/** Sets the status and the headers of a stream of events. */
export function describeStream(response: Response): Response {
  response.status(200).setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
  // Whoever compresses or buffers would keep events back.
  return response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
}

/** Writes events to a response, whose headers go out with the first of them. A write waits until there is room for the next. */
export function sinkOf(response: Response): ProgressSink {
  return {
    write: (text) => {
      if (!response.headersSent) {
        describeStream(response);
      }
      return response.write(text) || response.destroyed ? Promise.resolve() : roomIn(response);
    },
    end: () => response.end(),
  };
}

function roomIn(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
