import { Agent, request } from 'undici';
import { prove } from './proof.js';
import { connectionTestPath } from '../../../test/support/factories.js';

export const APP = 'prove-app';
export const VERSION = 'prove-version';
const SYSTEMS = `/appmanager/api/resource/app/${APP}/app-version/${VERSION}/rt/system`;
const REQUEST_TIMEOUT_MS = 60_000;

/** Returns the path of endpoint 3. */
export function systemPath(resourceId: string): string {
  return `${SYSTEMS}/ri/${resourceId}/integration/api/systems/getById`;
}

/** A response. `body` is the parsed JSON, or an empty object if there was none. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
  /** Whether the server announced that it will close the connection. */
  closes: boolean;
}

/** The part of a system in create and get-by-id responses that proofs check. */
export interface SystemRecord {
  id: string;
  resourceId: string;
  resourceDefinitionId: string;
  name: string;
  tools: { id: string; name: string; enabled: boolean }[];
}

/** HTTP client of the service with one token and its own kept-alive connections. */
export class ApiClient {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly token: string,
    options: { connections?: number } = {},
  ) {
    this.agent = new Agent({ connections: options.connections ?? 50, pipelining: 1 });
  }

  /** Creates a system whose display name is its resource name (endpoint 1 of the interface contract). */
  create(name: string, payload: Record<string, unknown> = {}): Promise<Answer> {
    return this.send('PATCH', `${SYSTEMS}/integration/api/systems`, {
      action: 'CREATE',
      resourceName: name,
      payload: {
        name,
        type: 'MCP',
        baseUrl: 'https://mcp.example.com/mcp',
        authorization: { type: 'NO_AUTH' },
        ...payload,
      },
    });
  }

  /** Tests a connection without authorization (endpoint 2). */
  testConnection(baseUrl: string): Promise<Answer> {
    return this.send(
      'PATCH',
      `/appmanager/api/runtime-internal/app/${APP}/app-version/${VERSION}/rt/system/integrationengine/api/systems/test-mcp-connection`,
      { baseUrl, authorization: { type: 'NO_AUTH' } },
    );
  }

  /** Reads a system (endpoint 3). */
  getById(resourceId: string): Promise<Answer> {
    return this.send('GET', systemPath(resourceId));
  }

  /** Lists systems (endpoint 4). */
  list(): Promise<Answer> {
    return this.send('GET', `${SYSTEMS}/include-dep-res/integration/api/systems/all/info`);
  }

  /** Enables or disables a tool (endpoint 5). */
  setEnabled(system: { id: string; resourceId: string }, toolId: string, enabled: boolean): Promise<Answer> {
    const path = `${SYSTEMS}/ri/${system.resourceId}/integration/api/systems/ri/${system.id}/tool/${toolId}/enable`;
    return this.send('PATCH', path, { enabled });
  }

  /**
   * Sends a request.
   * @param headers headers in addition to those of every call
   * @throws Error of the connection when there was no response
   */
  async send(
    method: 'GET' | 'PATCH' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
      closes: response.headers['connection'] === 'close',
    };
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

const UNREACHABLE_URL = 'http://127.0.0.1:1/mcp';

/** Creates a system with its own secret, which is stored encrypted. */
export async function createSealed(client: ApiClient, name: string, index: number): Promise<void> {
  const { status } = await client.create(name, connection(index));
  prove(status === 201, `a create was answered ${status}`);
}

/** Tests the connection of a stored system, which requires decrypting its secret: 500 if that fails. */
export async function openSecret(client: ApiClient, index: number): Promise<void> {
  const { status, body } = await client.send('PATCH', connectionTestPath(APP, VERSION), connection(index));
  prove(status === 200, `a secret could not be decrypted:  ${status} ${JSON.stringify(body)}`);
}

function connection(index: number): { baseUrl: string; authorization: unknown } {
  const configuration = {
    clientId: `client-${index}`,
    clientSecret: `secret-${index}`,
    identityProviderUrl: UNREACHABLE_URL,
  };
  return { baseUrl: UNREACHABLE_URL, authorization: { type: 'SERVICE_ACCOUNT', configuration } };
}
