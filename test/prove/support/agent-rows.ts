import { toStoredText } from '../../../src/database/column-values.js';
import { AGENT_TOOLS, modelCall, toolCall } from './agent-orders.js';
import { Snapshots } from './process-snapshots.js';

/** A call of the journal, by the name under which the party that got it counts it. */
export interface JournaledCall {
  name: string;
  state: string;
  /** How often it was begun. */
  tries: number;
}

/** A process instance and how its agent run ended, as far as it has. */
export interface AgentInstance {
  uuid: string;
  /** State of the instance. */
  state: string;
  openIncidents: number;
  run: { state: string; code: string | null; output: unknown } | null;
}

/** Reads agent runs past the service, over a connection of its own: an independent witness of what is stored. */
export class AgentRows {
  private constructor(private readonly snapshots: Snapshots) {}

  static async open(databaseUrl: string): Promise<AgentRows> {
    return new AgentRows(await Snapshots.open(databaseUrl));
  }

  close(): Promise<void> {
    return this.snapshots.close();
  }

  /**
   * Every call that was begun.
   * @param orders names of orders by the UUIDs of their instances
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
              code: (parsed(row['error']) as { code?: string } | null)?.code ?? null,
              output: row['output'] === null ? null : parsed(toStoredText(row['output'])),
            },
    }));
  }
}

function toolNameOf(order: string, index: number): string {
  return toolCall(order, AGENT_TOOLS[index]?.name ?? `call ${index}`);
}

/** JSON comes as text from some columns and drivers, and as a value from others. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
