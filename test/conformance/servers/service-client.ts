import type { CallAnswer, ListedTool } from './official-client.js';

/** A tool as the service shows it. */
export interface ShownTool extends ListedTool {
  id: string;
  enabled: boolean;
}

/** Answer of a connection test. */
export interface TestAnswer {
  status: number;
  message: string;
  details?: string;
  rejectedTools: unknown[];
}

/** What paths name a system by. */
export interface SystemIds {
  id: string;
  resourceId: string;
}

interface Answered {
  outcome: 'OK' | 'TOOL_ERROR' | 'FAILED';
  text: string;
  structured: unknown;
}

const NOT_CALLED: Readonly<Record<number, 'REFUSED' | 'DISABLED'>> = { 400: 'REFUSED', 409: 'DISABLED' };
const VERSION = 'app/servers/app-version/v1/rt/system';
const DEFINITIONS = `/appmanager/api/resource/${VERSION}`;
const RUNTIME = `/appmanager/api/runtime-internal/${VERSION}`;

/** The API of a running service, as far as systems and their tools go. */
export class ServiceClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  async register(resourceName: string, baseUrl: string): Promise<SystemIds> {
    const payload = { type: 'MCP', name: resourceName, baseUrl, authorization: { type: 'NO_AUTH' } };
    const body = { action: 'CREATE', resourceName, payload };
    return this.send('PATCH', `${DEFINITIONS}/integration/api/systems`, body);
  }

  test({ resourceId }: SystemIds): Promise<TestAnswer> {
    return this.send('POST', `${RUNTIME}/ri/${resourceId}/integrationengine/api/systems/test-mcp-connection`);
  }

  async tools({ resourceId }: SystemIds): Promise<ShownTool[]> {
    const path = `${DEFINITIONS}/ri/${resourceId}/integration/api/systems/getById`;
    return (await this.send<{ tools: ShownTool[] }>('GET', path)).tools;
  }

  async switchOff({ resourceId, id }: SystemIds, toolId: string): Promise<void> {
    const path = `${DEFINITIONS}/ri/${resourceId}/integration/api/systems/ri/${id}/tool/${toolId}/enable`;
    await this.send('PATCH', path, { enabled: false });
  }

  /** Calls a tool by hand. Arguments that do not fit its schema are refused. */
  async call({ resourceId, id }: SystemIds, toolId: string, args: unknown): Promise<CallAnswer> {
    const path = `${RUNTIME}/ri/${resourceId}/integrationengine/api/systems/ri/${id}/tool/${toolId}/call`;
    const { status, body } = await this.exchange('POST', path, args);
    const { outcome, text, structured } = body as Answered;
    if (status === 200 && outcome !== 'FAILED') {
      return { outcome, text, structured };
    }
    return { outcome: NOT_CALLED[status] ?? 'FAILED' };
  }

  private async send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.exchange(method, path, body);
    if (answer.status >= 400) {
      throw new Error(`${method} ${path} is answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body as Body;
  }

  private async exchange(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }
}
