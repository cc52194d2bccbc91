import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from '../../../test/support/databases/process-resources.js';
import { LocalServer, output, programOf } from '../../../test/support/databases/local-server.js';

const PASSWORD = 'admin';
const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

/** Several Redis servers with failover. */
export interface RedisGroup {
  /** REDIS_URL */
  url: string;
  servers: readonly LocalServer[];
  ports: readonly number[];
  /** Sends a command to a server. Returns an empty string if it does not respond. */
  ask(port: number, ...command: string[]): Promise<string>;
  /** Returns the ports of the primaries. */
  primaries(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Starts two servers and three Sentinels that watch them. */
export async function startSentinelGroup(): Promise<RedisGroup> {
  const [first, second] = [await freePort(), await freePort()];
  const sentinels = [await freePort(), await freePort(), await freePort()];
  const servers = [await startServer(first, []), await startServer(second, [`replicaof 127.0.0.1 ${first}`])];
  const watchers: LocalServer[] = [];
  for (const port of sentinels) {
    watchers.push(await startSentinel(port, first));
  }
  const group = { servers, ports: [first, second], ask, primaries: () => primariesOf([first, second]) };
  await until('the second server follows the first', async () =>
    (await ask(first, 'info', 'replication')).includes('state=online'),
  );
  await until('the Sentinels know each other', async () =>
    (await ask(sentinels[0] ?? 0, 'sentinel', 'ckquorum', 'main')).startsWith('OK 3'),
  );
  return {
    ...group,
    url: `redis+sentinel://:${PASSWORD}@${sentinels.map((port) => `127.0.0.1:${port}`).join(',')}/main`,
    stop: () => stopAll([...watchers, ...servers]),
  };
}

/** Starts a cluster of three primaries with one replica each. */
export async function startCluster(): Promise<RedisGroup> {
  const ports: number[] = [];
  const servers: LocalServer[] = [];
  while (ports.length < 6) {
    const [port, bus] = [await freePort(), await freePort()];
    ports.push(port);
    servers.push(
      await startServer(port, ['cluster-enabled yes', `cluster-port ${bus}`, 'cluster-node-timeout 1000']),
    );
  }
  const cli = await programOf('/usr/bin/redis-cli', 'redis-server');
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  await output([
    ...cli,
    '--no-auth-warning',
    '-a',
    PASSWORD,
    '--cluster',
    'create',
    ...addresses,
    '--cluster-replicas',
    '1',
    '--cluster-yes',
  ]);
  await until('the cluster is complete', async () => {
    const states = await Promise.all(ports.map((port) => ask(port, 'cluster', 'info')));
    const followers = await Promise.all(ports.map((port) => ask(port, 'info', 'replication')));
    return (
      states.every((text) => text.includes('cluster_state:ok')) &&
      followers.filter((text) => text.includes('master_link_status:up')).length === 3
    );
  });
  return {
    url: `redis+cluster://:${PASSWORD}@${addresses.slice(0, 3).join(',')}`,
    servers,
    ports,
    ask,
    primaries: () => primariesOf(ports),
    stop: () => stopAll(servers),
  };
}

async function startServer(port: number, settings: readonly string[]): Promise<LocalServer> {
  const program = await programOf('/usr/bin/redis-server', 'redis-server');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    'save ""',
    'appendonly yes',
    'repl-diskless-sync-delay 0',
    `requirepass ${PASSWORD}`,
    `masterauth ${PASSWORD}`,
    ...settings,
  ];
  return LocalServer.start({
    name: 'redis',
    prepare: (folder) => writeFile(join(folder, 'redis.conf'), lines.join('\n')),
    command: (folder) => [...program, join(folder, 'redis.conf')],
    isReady: () => isListening(port),
  });
}

async function startSentinel(port: number, primary: number): Promise<LocalServer> {
  const program = await programOf('/usr/bin/redis-server', 'redis-server');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor main 127.0.0.1 ${primary} 2`,
    `sentinel auth-pass main ${PASSWORD}`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 5000',
  ];
  return LocalServer.start({
    name: 'redis',
    prepare: (folder) => writeFile(join(folder, 'sentinel.conf'), lines.join('\n')),
    command: (folder) => [...program, join(folder, 'sentinel.conf'), '--sentinel'],
    isReady: () => isListening(port),
  });
}

async function ask(port: number, ...command: string[]): Promise<string> {
  const cli = await programOf('/usr/bin/redis-cli', 'redis-server');
  const options = ['--no-auth-warning', '-a', PASSWORD, '-p', String(port)];
  return output([...cli, ...options, ...command]).catch(() => '');
}

async function primariesOf(ports: readonly number[]): Promise<number[]> {
  const roles = await Promise.all(ports.map((port) => ask(port, 'role')));
  return ports.filter((_, index) => roles[index]?.startsWith('master') === true);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; !(await holds()); await sleep(POLL_MS)) {
    if (Date.now() > deadline) {
      throw new Error(`Redis: timed out waiting until ${what}.`);
    }
  }
}

async function stopAll(servers: readonly LocalServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}
