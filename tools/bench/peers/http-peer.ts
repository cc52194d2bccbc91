import { Agent, FormData, request } from 'undici';
import { setTimeout as sleep } from 'node:timers/promises';

const TOO_MANY = 429;
const RETRY_MS = 5;

/** HTTP client of a peer. */
export class HttpPeer {
  private readonly agent: Agent;
  /** Number of 429 responses so far. Each request was retried. */
  refusals = 0;

  constructor(
    private readonly url: string,
    connections: number,
  ) {
    this.agent = new Agent({ connections, pipelining: 1 });
  }

  /**
   * Sends a request and retries it while the peer is overloaded.
   * @throws Error when the response is neither 2xx nor a rejection for overload, because then nothing was measured
   */
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
        await sleep(RETRY_MS);
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

/** Returns whether Zeebe's gateway reports that the broker behind it is overloaded. */
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

/** Returns a form with one file. */
export function fileForm(field: string, name: string, text: string): FormData {
  const form = new FormData();
  form.append(field, new Blob([text]), name);
  return form;
}
