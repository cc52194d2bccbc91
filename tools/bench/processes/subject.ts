import { Agent, request } from 'undici';
import type { Contender } from './contenders.js';

const APP = 'bench';
const REQUEST_TIMEOUT_MS = 60_000;

/** Data with which instances start. */
export const DATA = { fork: false, amount: 1_200, applicant: { name: 'Ada Example', city: 'London' } };
/** Data that UI actions send. */
export const FORM = { amount: 1_500, comment: 'as agreed', applicant: { city: 'Paris' } };

/** An instance that waits at its only token. */
export interface Waiting {
  instanceId: number;
  uuid: string;
  tokenId: number;
  tokenUuid: string;
}

type Json = Record<string, unknown>;

/** HTTP client of the measured service. */
export class Subject {
  private readonly agent: Agent;
  /** UI action ids by process and task name. */
  private readonly uiActions = new Map<string, string>();
  private buildId = '';

  constructor(
    private readonly url: string,
    private readonly token: string,
    connections: number,
  ) {
    this.agent = new Agent({ connections, pipelining: 1 });
  }

  /** Delivers BPMN files as one package and creates a build. */
  async publish(models: Record<string, string>): Promise<void> {
    const version = `/appmanager/api/resource/app/${APP}/app-version/v1`;
    await this.send('PUT', `${version}/package`, {
      application: { formatVersion: 1, appId: APP, name: 'Benchmark' },
      processes: Object.entries(models).map(([name, bpmn]) => ({ file: `processes/${name}.bpmn`, bpmn })),
    });
    await this.send('POST', `${version}/commit`, {});
    const { buildId } = await this.send('POST', `${version}/build`, {});
    this.buildId = String(buildId);
  }

  /** Starts an instance (endpoint 7). */
  async start(process: string, data: Json): Promise<Waiting> {
    const path = `/rtm/api/runtime/app/${APP}/build/${this.buildId}/process-name/${process}/start`;
    const { uuid, tokens, instanceMetadata } = await this.send('POST', path, data);
    const [token] = tokens as { id: number; uuid: string }[];
    return {
      instanceId: Number((instanceMetadata as Json)['processInstanceId']),
      uuid: String(uuid),
      tokenId: token?.id ?? 0,
      tokenUuid: token?.uuid ?? '',
    };
  }

  /** Executes the UI action of a user task (endpoint 8). */
  async act(process: string, waiting: Waiting, task: string, data: Json): Promise<void> {
    const action = await this.uiAction(process, waiting, task);
    await this.send(
      'POST',
      `/onboarding/api/runtime/process/${waiting.uuid}/token/${waiting.tokenUuid}/ui-action/${action}/context/main/execute`,
      data,
    );
  }

  /** Reads one instance in full. */
  read({ uuid }: Waiting): Promise<Json> {
    return this.send('GET', `/rtm/api/runtime/process-instance/${uuid}`);
  }

  /** Returns the service as a contender. Every second instance has `fork` set. */
  contender(
    name: string,
    pid: number,
    callers: readonly number[],
    { process, task }: { process: string; task: string },
  ): Contender {
    return {
      name,
      pid,
      callers,
      start: async (index) => {
        const waiting = await this.start(process, { ...DATA, fork: index % 2 === 1 });
        return { act: () => this.act(process, waiting, task, FORM), read: () => this.read(waiting) };
      },
    };
  }

  async close(): Promise<void> {
    await this.agent.close();
  }

  private async uiAction(process: string, waiting: Waiting, task: string): Promise<string> {
    const key = `${process}/${task}`;
    const known = this.uiActions.get(key);
    if (known !== undefined) {
      return known;
    }
    const { tokens } = await this.read(waiting);
    const open = (tokens as { uiActions?: { svcUuid: string; name: string }[] }[]).flatMap(
      ({ uiActions }) => uiActions ?? [],
    );
    const found = open.find(({ name }) => name === task)?.svcUuid ?? '';
    this.uiActions.set(key, found);
    return found;
  }

  /**
   * Sends a request and returns its JSON response.
   * @throws Error when the response is not 2xx, because then nothing was measured
   */
  private async send(method: 'GET' | 'PUT' | 'POST', path: string, body?: Json): Promise<Json> {
    const response = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      headersTimeout: REQUEST_TIMEOUT_MS,
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        'svc-platform': 'bench',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    }
    return JSON.parse(text) as Json;
  }
}
