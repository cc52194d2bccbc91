import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ApiClient } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { ServiceProcess } from './support/service-process.js';

const EX_CONFIG = 78;

export const proof: Proof = {
  name: 'start',
  claim:
    'the built service starts, rejects unauthenticated callers, serves an authenticated one and stops; without settings it does not start',
  databases: ['embedded', 'mariadb', 'mysql'],
  // Many other proofs cover MariaDB.
  shortDatabases: ['embedded', 'mysql'],
  run: (environment) =>
    environment.kind === 'embedded' ? startForEvaluation(environment) : startForProduction(environment),
};

async function startForProduction(environment: ProofEnvironment): Promise<string> {
  const bare = await ServiceProcess.launch({ NODE_ENV: 'production' });
  const status = await bare.ended();
  prove(status === EX_CONFIG, `without settings it exited with ${status} instead of ${EX_CONFIG}`);
  const service = await environment.startService(await environment.emptyDatabase());
  await serve(service, await environment.token());
  return `production mode: 401 without a token, 201, 200; without settings it exits with ${EX_CONFIG}`;
}

/** Proves evaluation mode, which runs the service on one machine: no database, no issuer, tokens from a command. */
async function startForEvaluation(environment: ProofEnvironment): Promise<string> {
  const settings = { DATA_DIR: environment.folder };
  const service = await environment.adopt(
    await ServiceProcess.launch(settings, 'dist/src/evaluation/main.js'),
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/src/evaluation/dev-token.cli.js'], {
    env: { ...process.env, ...settings },
  });
  await serve(service, stdout.trim());
  return 'evaluation mode: 401 without a token, 201, 200';
}

async function serve(service: ServiceProcess, token: string): Promise<void> {
  const stranger = new ApiClient(service.url, '');
  const caller = new ApiClient(service.url, token);
  const refused = await stranger.list();
  prove(refused.status === 401, `without a token the list answered ${refused.status}`);
  const created = await caller.create('started');
  prove(created.status === 201, `create answered ${created.status}: ${JSON.stringify(created.body)}`);
  const listed = await caller.list();
  prove(listed.status === 200, `list answered ${listed.status}`);
  await Promise.all([stranger.close(), caller.close()]);
  const end = await service.kill('SIGTERM');
  prove(end === 0 || end === 143 || end === 'SIGTERM', `SIGTERM ended it with ${end}`);
}
