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

/** The part of the class that the benchmark uses; the package's types lack its constructors. */
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
 * Baseline of an embedded engine: `bpmn-elements` with its entire state in one row. Each step is one transaction that locks
 * the row, recovers the state, signals the waiting user task and saves. The XML is parsed once.
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

  /** Starts an instance and saves it at its first wait. */
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

  /** Completes the waiting user task. */
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
