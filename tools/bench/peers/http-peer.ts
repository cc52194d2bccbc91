import { Agent, FormData, request } from 'undici';
import { setTimeout as sleep } from 'node:timers/promises';

const TOO_MANY = 429;
const REPEAT_MS = 5;

/** A peer as its callers see it. */
export class HttpPeer {
  private readonly agent: Agent;
  /** Answers 429 so far; each was repeated. */
  refusals = 0;

  constructor(
    private readonly url: string,
    connections: number,
  ) {
    this.agent = new Agent({ connections, pipelining: 1 });
  }

  /** @throws Error when the answer is neither 2xx nor a refusal for overload, because then nothing was measured */
  async send(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    for (;;) {
      const response = await request(this.url + path, {
        method,
        dispatcher: this.agent,
        ...contentOf(body),
      });
      const text = await response.body.text();
      if (response.statusCode === TOO_MANY || isOverloaded(response.statusCode, text)) {
        this.refusals += 1;
        await sleep(REPEAT_MS);
        continue;
      }
      if (response.statusCode >= 300) {
        throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
      }
      return text === '' ? undefined : JSON.parse(text);
    }
  }

  async close(): Promise<void> {
    await this.agent.close();
  }
}

/** Zeebe's gateway says so of the broker behind it, where that takes no more. */
function isOverloaded(status: number, text: string): boolean {
  return status >= 500 && text.includes('RESOURCE_EXHAUSTED');
}

function contentOf(body: object | undefined): { body?: FormData | string; headers?: Record<string, string> } {
  if (body === undefined) {
    return {};
  }
  return body instanceof FormData
    ? { body }
    : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** A file to deliver. */
export function fileForm(field: string, name: string, text: string): FormData {
  const form = new FormData();
  form.append(field, new Blob([text]), name);
  return form;
}
