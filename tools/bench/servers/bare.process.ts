import { createServer } from 'node:http';
import { createPool, type RowDataPacket } from 'mysql2/promise';

/**
 * The baseline: `node:http` and `mysql2` with nothing between. It runs the statements that it is given for a path and
 * answers the bytes that it is given, so it does no more than any server must that reads these rows.
 *
 * Configuration comes as JSON in the variable BARE: { databaseUrl, poolSize, routes: { path: { statements, body } } }.
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
