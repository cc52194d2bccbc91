import { readdirSync } from 'node:fs';
import { ApiClient } from './support/api-client.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';

const REPLICAS = 2;

export const proof: Proof = {
  name: 'first-start',
  claim: 'replicas that start simultaneously on an empty database migrate it once and all become ready',
  databases: ['mariadb', 'mysql'],
  shortDatabases: ['mariadb'],
  async run(environment) {
    const rounds = environment.short ? 1 : 10;
    const expected = readdirSync('migrations').filter((name) => /^\d+-.*(?<!\.spec)\.ts$/.test(name)).length;
    for (let round = 0; round < rounds; round += 1) {
      const databaseUrl = await environment.emptyDatabase();
      const services = await Promise.all(
        Array.from({ length: REPLICAS }, () => environment.launchService(databaseUrl)),
      );
      await Promise.all(services.map((service) => service.ready()));
      const migrations = await rows(databaseUrl, 'SELECT name FROM migrations');
      prove(
        migrations.length === expected,
        `${migrations.length} migrations recorded instead of ${expected}`,
      );
      for (const [index, service] of services.entries()) {
        const client = new ApiClient(service.url, await environment.token());
        const { status } = await client.create(`first-${index}`);
        prove(status === 201, `replica ${index} answered ${status} to its first create`);
        await client.close();
      }
      await Promise.all(services.map((service) => service.kill('SIGTERM')));
    }
    return `${rounds} x ${REPLICAS} replicas on an empty database: ${expected} migration(s) each time, once`;
  },
};
