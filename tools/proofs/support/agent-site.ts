import { setTimeout as sleep } from 'node:timers/promises';
import { agentPackage, AGENT_TOOLS, modelCall, toolCall } from './agent-orders.js';
import { ApiClient, APP, VERSION, type Answer } from './api-client.js';
import { CountingPeer, type CallCounts } from './helper-process.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import type { ServiceProcess } from './service-process.js';
import { toStoredText } from '../../../src/store/tables/column-values.js';
import { Snapshots } from './rows.js';

const DELIVERY = `/appmanager/api/resource/app/${APP}/app-version/${VERSION}`;
const MAX_LIFE_MS = 8_000;
const LOOK_MS = 5;
const INSTANCES = '/rtm/api/runtime/process-instance';
/** Runs of dead workers are retried soon, and as often as workers die. */
const SETTINGS = {
  'jobLimits.leaseMs': '1000',
  'jobLimits.pollMs': '50',
  'jobLimits.retryBaseMs': '50',
  'jobLimits.maxCrashes': '1000',
  'jobLimits.longConcurrency': '8',
  'workflowLimits.leaseMs': '3000',
  EGRESS_ALLOW: '127.0.0.1',
  'mcpLimits.testTimeoutMs': '60000',
};

/** A service whose agents use a model and an MCP server, each in a separate process. */
export class AgentSite {
  /** Names of started orders by instance UUID. */
  readonly orders = new Map<string, string>();

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly databaseUrl: string,
    private readonly peers: { model: CountingPeer; tools: CountingPeer },
    readonly rows: AgentRows,
    private service: ServiceProcess,
    private client: ApiClient,
  ) {}

  static async open(environment: ProofEnvironment): Promise<AgentSite> {
    const databaseUrl = await environment.emptyDatabase();
    const [model, tools] = await Promise.all([
      CountingPeer.start('./agent-model.process.ts'),
      CountingPeer.start('./agent-tools.process.ts'),
    ]);
    const service = await environment.startService(databaseUrl, settings(model));
    const client = new ApiClient(service.url, await environment.token());
    const rows = await AgentRows.open(databaseUrl);
    return new AgentSite(environment, databaseUrl, { model, tools }, rows, service, client);
  }

  /**
   * Delivers the application, tests the connection to the MCP server and creates a build.
   * @returns id of the build
   */
  async publish(): Promise<string> {
    const { url } = this.peers.tools;
    await this.request('PUT', `${DELIVERY}/package`, agentPackage(APP, url));
    const { body } = await this.client.testConnection(url);
    prove(body['status'] === 200, `the connection test returned ${JSON.stringify(body)}`);
    await this.request('POST', `${DELIVERY}/commit`, {});
    const built = await this.request('POST', `${DELIVERY}/build`, {});
    return String(built.body['buildId']);
  }

  /** Starts the process of one order. */
  async start(build: string, order: string): Promise<void> {
    const path = `/rtm/api/runtime/app/${APP}/build/${build}/process-name/orders/start`;
    const headers = { 'svc-platform': 'prove', 'idempotency-key': order };
    const { body } = await this.request('POST', path, { order }, headers);
    this.orders.set(String(body['uuid']), order);
  }

  /** Retries the incident of an instance, as a person would. */
  async retry(instance: string): Promise<void> {
    const { body } = await this.request('GET', `${INSTANCES}/${instance}`);
    const [incident] = body['incidents'] as { tokenUuid: string }[];
    await this.request('POST', `${INSTANCES}/${instance}/token/${incident?.tokenUuid}/retry`, {});
  }

  /** Returns the calls that the model and the MCP server received so far. */
  async counts(): Promise<CallCounts> {
    const [model, tools] = await Promise.all([this.peers.model.counts(), this.peers.tools.counts()]);
    return { ...model, ...tools };
  }

  /** Waits until the model and the MCP server together received `calls` more calls, at most MAX_LIFE_MS. */
  async receive(calls: number): Promise<void> {
    const total = async (): Promise<number> =>
      (await this.peers.model.total()) + (await this.peers.tools.total());
    const wanted = (await total()) + calls;
    const deadline = performance.now() + MAX_LIFE_MS;
    while (performance.now() < deadline && (await total()) < wanted) {
      await sleep(LOOK_MS);
    }
  }

  async kill(): Promise<void> {
    await this.service.kill('SIGKILL');
    await this.client.close();
  }

  async restart(): Promise<void> {
    this.service = await this.environment.startService(this.databaseUrl, settings(this.peers.model));
    this.client = new ApiClient(this.service.url, await this.environment.token());
  }

  async close(): Promise<void> {
    this.peers.model.stop();
    this.peers.tools.stop();
    await Promise.all([this.client.close(), this.rows.close()]);
  }

  private async request(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const answer = await this.client.send(method, path, body, headers);
    prove(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }
}

function settings({ url }: CountingPeer): Record<string, string> {
  return { ...SETTINGS, LLM_BASE_URL: url, LLM_MODEL: 'orders' };
}

/** A journaled call, with the name under which its receiver counts it. */
export interface JournaledCall {
  name: string;
  state: string;
  /** Number of attempts. */
  tries: number;
}

/** A process instance and the outcome of its agent run, if any. */
export interface AgentInstance {
  uuid: string;
  /** State of the instance. */
  state: string;
  openIncidents: number;
  run: { state: string; code: string | null; output: unknown } | null;
}

/** Reads agent runs directly from the database, as independent evidence of what is stored. */
export class AgentRows {
  private constructor(private readonly snapshots: Snapshots) {}

  static async open(databaseUrl: string): Promise<AgentRows> {
    return new AgentRows(await Snapshots.open(databaseUrl));
  }

  close(): Promise<void> {
    return this.snapshots.close();
  }

  /**
   * Returns every started call.
   * @param orders names of orders by instance UUID
   */
  async calls(orders: ReadonlyMap<string, string>): Promise<JournaledCall[]> {
    const rows = await this.snapshots.read((select) =>
      select(`SELECT c.run_id AS run, r.process_instance_uuid AS instance, c.kind AS kind, c.state AS state, c.tries AS tries
        FROM workflow_calls c JOIN workflow_runs r ON r.id = c.run_id ORDER BY c.run_id, c.started_at, c.call_key`),
    );
    const seen = new Map<string, number>();
    return rows.flatMap((row) => {
      const order = orders.get(String(row['instance']));
      const place = `${String(row['run'])} ${String(row['kind'])}`;
      const index = seen.get(place) ?? 0;
      seen.set(place, index + 1);
      const name = row['kind'] === 'MODEL' ? modelCall(order ?? '', index) : toolNameOf(order ?? '', index);
      return order === undefined ? [] : [{ name, state: String(row['state']), tries: Number(row['tries']) }];
    });
  }

  async instances(): Promise<AgentInstance[]> {
    const rows = await this.snapshots.read((select) =>
      select(`SELECT i.uuid AS uuid, i.state AS state, i.open_incidents AS incidents, r.state AS run, r.error AS error, r.output AS output
        FROM process_instances i LEFT JOIN workflow_runs r ON r.process_instance_uuid = i.uuid`),
    );
    return rows.map((row) => ({
      uuid: String(row['uuid']),
      state: String(row['state']),
      openIncidents: Number(row['incidents']),
      run:
        row['run'] === null
          ? null
          : {
              state: row['run'] as string,
              code: (parseJson(row['error']) as { code?: string } | null)?.code ?? null,
              output: row['output'] === null ? null : parseJson(toStoredText(row['output'])),
            },
    }));
  }
}

function toolNameOf(order: string, index: number): string {
  return toolCall(order, AGENT_TOOLS[index]?.name ?? `call ${index}`);
}

/** Parses JSON columns, which some drivers return as text and others as a value. */
function parseJson(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
