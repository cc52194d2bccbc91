import { randomUUID } from 'node:crypto';
import { BpmnModdle } from 'bpmn-moddle';
import * as elements from 'bpmn-elements';
import serialize, { TypeResolver } from 'moddle-context-serializer';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';

/** As far as the benchmark uses it; the types of the package leave its constructors out. */
interface Definition {
  run(): void;
  resume(): void;
  recover(state: unknown): void;
  getState(): unknown;
  signal(message: { id: string }): void;
}
const { Context, Definition, Environment } = elements as unknown as {
  Context: (source: unknown, environment?: unknown) => unknown;
  Definition: new (context: unknown) => Definition;
  Environment: new (options: { variables: Record<string, unknown> }) => unknown;
};

/**
 * The baseline that a user has who embeds an engine: `bpmn-elements`, its whole state saved in one row, each step one
 * transaction: lock the row, recover, signal the user task that waits, save. The XML is read once.
 */
export class EmbeddedEngine {
  private constructor(
    private readonly pool: Pool,
    private readonly source: unknown,
  ) {}

  static async open(databaseUrl: string, xml: string, poolSize: number): Promise<EmbeddedEngine> {
    const pool = createPool({ uri: databaseUrl, connectionLimit: poolSize });
    await pool.query(
      'CREATE TABLE bench_embedded (id varchar(36) PRIMARY KEY, state longtext NOT NULL) CHARACTER SET utf8mb4',
    );
    const context = await new BpmnModdle().fromXML(xml);
    return new EmbeddedEngine(pool, serialize(context, TypeResolver({ ...elements }) as never));
  }

  /** Starts an instance and saves it where it waits. */
  async start(variables: Record<string, unknown>): Promise<string> {
    const definition = new Definition(Context(this.source, new Environment({ variables })));
    definition.run();
    const id = randomUUID();
    await this.inTransaction(async (connection) => {
      await connection.query('INSERT INTO bench_embedded (id, state) VALUES (?, ?)', [
        id,
        JSON.stringify(definition.getState()),
      ]);
    });
    return id;
  }

  /** Completes the user task that waits. */
  async act(id: string, task: string): Promise<void> {
    await this.inTransaction(async (connection) => {
      const [rows] = await connection.query<RowDataPacket[]>(
        'SELECT state FROM bench_embedded WHERE id = ? FOR UPDATE',
        [id],
      );
      const definition = new Definition(Context(this.source));
      definition.recover(JSON.parse(String(rows[0]?.['state'])));
      definition.resume();
      definition.signal({ id: task });
      const [result] = await connection.query<ResultSetHeader>(
        'UPDATE bench_embedded SET state = ? WHERE id = ?',
        [JSON.stringify(definition.getState()), id],
      );
      if (result.affectedRows !== 1) {
        throw new Error('The state was not saved.');
      }
    });
  }

  async close(): Promise<void> {
    await this.pool.query('DROP TABLE bench_embedded');
    await this.pool.end();
  }

  private async inTransaction(work: (connection: PoolConnection) => Promise<void>): Promise<void> {
    const connection = await this.pool.getConnection();
    try {
      await connection.beginTransaction();
      await work(connection);
      await connection.commit();
    } finally {
      connection.release();
    }
  }
}
