import { createServer } from 'node:http';
import { createPool, type RowDataPacket } from 'mysql2/promise';

/**
 * Baseline of plain `node:http` and `mysql2`. It runs the statements configured for a path and returns the configured
 * bytes, so it does only what any server that reads these rows must do.
 *
 * The variable BARE contains the configuration as JSON: { databaseUrl, poolSize, routes: { path: { statements, body } } }.
 */
interface Route {
  statements: string[];
  body: string;
}

const config = JSON.parse(process.env['BARE'] ?? '{}') as {
  databaseUrl: string;
  poolSize: number;
  routes: Record<string, Route>;
};
const pool = createPool({ uri: config.databaseUrl, connectionLimit: config.poolSize });
const routes = new Map(
  Object.entries(config.routes).map(([path, route]) => [path, { ...route, bytes: Buffer.from(route.body) }]),
);

const server = createServer((request, response) => {
  const route = routes.get(request.url ?? '');
  if (route === undefined) {
    response.writeHead(404).end();
    return;
  }
  const run = async (): Promise<void> => {
    for (const statement of route.statements) {
      await pool.query<RowDataPacket[]>(statement);
    }
    response
      .writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': route.bytes.length,
      })
      .end(route.bytes);
  };
  run().catch(() => response.writeHead(500).end());
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
