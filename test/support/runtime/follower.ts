import { Agent, fetch, type Response } from 'undici';
import type { TestApp } from '../app.js';
import { instancePath } from './runtime-client.js';

/** A server-sent event, taken apart. */
export interface ServerEvent {
  event: string;
  id: number;
  data: Record<string, unknown>;
}

/** A connection that follows an instance, and what it has been told. */
export class Follower {
  readonly events: ServerEvent[] = [];
  comments = 0;
  status = 0;
  contentType = '';
  private readonly abort = new AbortController();
  /** Its own, since a shared one opens connections that nobody uses, and a server waits for those when it stops. */
  private readonly agent = new Agent();
  private whole: Promise<void> = Promise.resolve();

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
    follower.whole = follower
      .read(response)
      .catch(() => undefined)
      .then(() => follower.agent.destroy());
    return follower;
  }

  /** When the server has ended the stream. */
  ended(): Promise<void> {
    return this.whole;
  }

  leave(): void {
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
