import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/databases/process-resources.js';
import { GaleraCluster } from './galera-cluster.js';
import { PrivateServer } from '../../support/databases/private-server.js';
import { serverProgram } from '../../support/databases/server-program.js';
import { scratchDatabase } from '../../support/databases/start-databases.js';
import { tryStart } from '../../support/databases/local-server.js';
import { AUDIENCE } from '../../support/issuer.js';
import { BuiltService } from '../secrets/built-service.js';

const isMysql = String(process.env['DATABASE_URL']).startsWith('mysql:');
const program = isMysql ? await serverProgram('mysql').catch(() => undefined) : undefined;
const folder = program === undefined ? '' : join(program.baseDir, 'lib/mysql/plugin');
const hasPlugin = existsSync(join(folder, 'group_replication.so'));

const isMariadb = String(process.env['DATABASE_URL']).startsWith('mariadb:');
const galera = isMariadb ? await tryStart(() => GaleraCluster.start(2)) : undefined;

async function launch(server: PrivateServer): Promise<BuiltService> {
  return BuiltService.launch({
    NODE_ENV: 'test',
    DATABASE_URL: await scratchDatabase(server.url, 'svc_writers'),
    OIDC_ISSUER: 'http://127.0.0.1:1',
    OIDC_AUDIENCE: AUDIENCE,
    SECRETS_KEYS: `k:${randomBytes(32).toString('base64')}`,
    'databaseLimits.startWaitSeconds': '0',
  });
}

describe.skipIf(program === undefined || !hasPlugin)('the service on MySQL', () => {
  let server: PrivateServer | undefined;
  afterEach(() => server?.stop());

  const start = async (): Promise<BuiltService> => {
    const group = randomUUID();
    server = await PrivateServer.start(program as NonNullable<typeof program>, {
      settings: [
        `--plugin-dir=${folder}`,
        '--plugin-load-add=group_replication.so',
        `--loose-group-replication-group-name=${group}`,
        '--loose-group-replication-start-on-boot=OFF',
        `--loose-group-replication-local-address=127.0.0.1:${await freePort()}`,
        '--loose-group-replication-single-primary-mode=OFF',
      ],
    });
    return launch(server);
  };

  it('refuses to start on a group with several primaries, and names the variable', async () => {
    const service = await start();
    expect(await service.ended()).toBe(1);
    expect(service.output).toContain(
      '"reason":"The database is a replication group with several primaries (group_replication_single_primary_mode): switch to single-primary mode.',
    );
    expect(service.output).not.toContain('"stack"');
  });
});

describe.skipIf(galera?.server === undefined)('the service on MariaDB', () => {
  afterAll(() => galera?.server?.stop());

  it.each([0, 1])(
    'refuses to start on node %i of a Galera cluster, and names the variables',
    async (index) => {
      const service = await launch(galera?.server?.nodes[index] as PrivateServer);
      expect(await service.ended()).toBe(1);
      expect(service.output).toContain(
        '"reason":"The database is a Galera cluster with several nodes (wsrep_on, wsrep_cluster_size): use one server with replicas.',
      );
      expect(service.output).not.toContain('"stack"');
    },
  );
});
