import { Agent, request } from 'undici';
import { UI_ACTIONS, type UserTask } from './process-models.js';

/** Id of the application that these clients use. */
export const APP = 'prove-processes';
const VERSION = `/appmanager/api/resource/app/${APP}/app-version/v1`;
const CONNECTION_TEST = `/appmanager/api/runtime-internal/app/${APP}/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection`;
const INSTANCES = '/rtm/api/runtime/process-instance';
const REQUEST_TIMEOUT_MS = 60_000;

type Json = Record<string, unknown>;

/** A response, also as text for byte-by-byte comparison. */
export interface Reply {
  status: number;
  text: string;
  body: Json;
}

/** A token of an instance. */
export interface Place {
  /** UUID of the instance. */
  process: string;
  /** UUID of the token. */
  token: string;
}

/** HTTP client of the process endpoints with one token and its own kept-alive connections. */
export class ProcessClient {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly token: string,
    connections = 50,
  ) {
    this.agent = new Agent({ connections, pipelining: 1 });
  }

  /**
   * Delivers BPMN files as one package and creates a build.
   * @returns id of the build
   * @throws Error when the service rejects the package
   */
  async publish(models: Readonly<Record<string, string>>): Promise<string> {
    return this.publishPackage({
      application: { formatVersion: 1, appId: APP, name: 'Proofs' },
      processes: Object.entries(models).map(([name, bpmn]) => ({ file: `processes/${name}.bpmn`, bpmn })),
    });
  }

  /**
   * Delivers a complete package of the application `APP` and creates a build.
   * @param tools URL of the MCP server whose tools the package uses
   */
  async publishPackage(contents: Json, tools?: string): Promise<string> {
    await this.request2xx('PUT', `${VERSION}/package`, contents);
    if (tools !== undefined) {
      await this.request2xx('PATCH', CONNECTION_TEST, { baseUrl: tools, authorization: { type: 'NO_AUTH' } });
    }
    await this.request2xx('POST', `${VERSION}/commit`, {});
    const { body } = await this.request2xx('POST', `${VERSION}/build`, {});
    return String(body['buildId']);
  }

  /** Activates a build, which schedules its timer start events. */
  async activate(buildId: string): Promise<void> {
    await this.request2xx('PUT', `/appmanager/api/resource/app/${APP}/active-build`, { buildId });
  }

  /** Starts an instance (endpoint 7 of the interface contract). */
  start(build: string, process: string, data: Json, key?: string): Promise<Reply> {
    const path = `/rtm/api/runtime/app/${APP}/build/${build}/process-name/${process}/start`;
    return this.send('POST', path, data, key);
  }

  /** Executes the UI action of a user task (endpoint 8). */
  act({ process, token }: Place, task: UserTask, data: Json, key?: string, visit?: number): Promise<Reply> {
    const path = `/onboarding/api/runtime/process/${process}/token/${token}/ui-action/${UI_ACTIONS[task]}/context/main/execute`;
    return this.send('POST', path, data, key, visit === undefined ? {} : { 'if-match': `"${visit}"` });
  }

  /** Reads state, tokens and data of an instance. */
  read(uuid: string): Promise<Reply> {
    return this.send('GET', `${INSTANCES}/${uuid}?include=`);
  }

  /** Reads the newest events of an instance. */
  history(uuid: string): Promise<Reply> {
    return this.send('GET', `${INSTANCES}/${uuid}/history`);
  }

  /** Lists the newest instances of a process. */
  list(process: string): Promise<Reply> {
    return this.send('GET', `${INSTANCES}?processDefinitionName=${process}`);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async request2xx(method: 'PATCH' | 'PUT' | 'POST', path: string, body: Json): Promise<Reply> {
    const reply = await this.send(method, path, body);
    if (reply.status >= 300) {
      throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    }
    return reply;
  }

  /**
   * Sends a request.
   * @throws Error of the connection when there was no response
   */
  private async send(
    method: 'GET' | 'PATCH' | 'PUT' | 'POST',
    path: string,
    body?: Json,
    key?: string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        'svc-platform': 'prove',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    return { status: response.statusCode, text, body: text === '' ? {} : (JSON.parse(text) as Json) };
  }
}

/** Returns the first token of an instance from the response to its start. */
export function firstPlace({ body }: Reply): Place {
  const [token] = body['tokens'] as { uuid: string }[];
  return { process: String(body['uuid']), token: token?.uuid ?? '' };
}

/** Returns whether a call got no response because its connection broke. */
export function isConnectionLost(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code);
  return /^(UND_ERR_SOCKET|ECONNRESET|ECONNREFUSED|EPIPE|UND_ERR_DESTROYED)$/.test(code);
}
