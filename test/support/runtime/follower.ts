import { Agent, fetch, type Response } from 'undici';
import type { TestApp } from '../app.js';
import { instancePath } from './runtime-client.js';

/** A parsed server-sent event. */
export interface ServerEvent {
  event: string;
  id: number;
  data: Record<string, unknown>;
}

/** A client that follows the progress of an instance, and the events it has received. */
export class Follower {
  readonly events: ServerEvent[] = [];
  comments = 0;
  status = 0;
  contentType = '';
  private readonly abort = new AbortController();
  /** A shared agent would open spare connections, and a stopping server waits for them. */
  private readonly agent = new Agent();
  private finished: Promise<void> = Promise.resolve();

  static async open(app: TestApp, id: string, token: string, lastEventId?: string): Promise<Follower> {
    const follower = new Follower();
    const response = await fetch(`${app.url}${instancePath(id)}/progress`, {
      dispatcher: follower.agent,
      signal: follower.abort.signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });
    follower.status = response.status;
    follower.contentType = response.headers.get('content-type') ?? '';
    follower.finished = follower
      .read(response)
      .catch(() => undefined)
      .then(() => follower.agent.destroy());
    return follower;
  }

  /** Resolves when the stream has ended. */
  ended(): Promise<void> {
    return this.finished;
  }

  close(): void {
    this.abort.abort();
    void this.agent.destroy();
  }

  private async read(response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      blocks.forEach((block) => this.take(block));
    }
  }

  private take(block: string): void {
    if (block.startsWith(':')) {
      this.comments += 1;
      return;
    }
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    this.events.push({
      event: fields['event'] ?? '',
      id: Number(fields['id']),
      data: JSON.parse(fields['data'] ?? '{}') as Record<string, unknown>,
    });
  }
}
