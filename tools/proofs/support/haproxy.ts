import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { unpackedProgram } from '../../../test/support/databases/debian-package.js';
import { freePort, isListening } from '../../../test/support/databases/process-resources.js';
import { LocalServer, programOf, type Command } from '../../../test/support/databases/local-server.js';
import type { MysqlGroup } from './mysql-group.js';
import { rows } from './rows.js';

const DEPLOY = new URL('../../../deploy/haproxy/', import.meta.url);
const CHECK_USER = 'primary_check';

/** HAProxy in front of a replication group, configured with the files of `deploy/haproxy` and local ports. */
export class Haproxy {
  private constructor(
    private readonly server: LocalServer,
    private readonly agents: readonly Server[],
    /** Host and port on which HAProxy listens. */
    readonly address: string,
  ) {}

  /** Checks that HAProxy and the client of its primary check are available. @throws Error with the reason if one is not */
  static async requirePrograms(): Promise<void> {
    await Promise.all([haproxyCommand(), mysqlCommand()]);
  }

  static async start(group: MysqlGroup, folder: string): Promise<Haproxy> {
    const command = await haproxyCommand();
    const client = await clientFolder(folder);
    await allowChecks(group);
    const agents = await Promise.all(
      group.addresses.map((address, index) =>
        startAgent(address, join(folder, `check-${index}.cnf`), client),
      ),
    );
    const port = await freePort();
    const text = await configure(group.addresses, agents.map(portOf), port);
    try {
      const server = await LocalServer.start({
        name: 'haproxy',
        prepare: (own) => writeFile(join(own, 'haproxy.cfg'), text),
        command: (own) => [...command, '-db', '-f', join(own, 'haproxy.cfg')],
        isReady: () => isListening(port),
      });
      return new Haproxy(server, agents, `127.0.0.1:${port}`);
    } catch (error) {
      agents.forEach((agent) => agent.close());
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.server.stop();
    this.agents.forEach((agent) => agent.close());
  }
}

function haproxyCommand(): Promise<Command> {
  return programOf('/usr/sbin/haproxy', 'haproxy');
}

async function mysqlCommand(): Promise<Command> {
  return (await unpackedProgram('unstable', 'mysql-client-core', '/usr/bin/mysql')).command;
}

/** Returns the configuration from `deploy` with local addresses, and without settings that require a system service. */
async function configure(
  addresses: readonly string[],
  ports: readonly number[],
  port: number,
): Promise<string> {
  const text = await readFile(new URL('haproxy.cfg', DEPLOY), 'utf8');
  return addresses
    .reduce(
      (all, address, index) =>
        all.replace(
          `server db-${index + 1} db-${index + 1}:3306`,
          `server db-${index + 1} ${address} port ${ports[index]}`,
        ),
      text,
    )
    .replace('bind 127.0.0.1:3306', `bind 127.0.0.1:${port}`)
    .replaceAll(/^ *(log|user|group|chroot) .*\n/gm, '')
    .replaceAll(/^ *option tcplog\n/gm, '');
}

/**
 * Starts the primary check like primary-check.socket: runs the script for each connection, with the connection as its
 * output.
 */
async function startAgent(address: string, options: string, clientPath: string): Promise<Server> {
  const [host, port] = address.split(':');
  await writeFile(
    options,
    `[client]\nuser=${CHECK_USER}\npassword=${CHECK_USER}\nprotocol=tcp\nhost=${host}\nport=${port}\n`,
  );
  const env = { PATH: `${clientPath}:${process.env['PATH']}`, PRIMARY_CHECK_OPTIONS: options };
  const script = new URL('primary-check', DEPLOY).pathname;
  const agent = createServer((socket) => {
    socket.on('error', () => undefined);
    spawn(script, { env, stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(socket);
  });
  await new Promise<void>((resolve) => {
    agent.listen(0, '127.0.0.1', resolve);
  });
  return agent;
}

/** Creates the account and tables that the script uses. */
async function allowChecks(group: MysqlGroup): Promise<void> {
  const account = `'${CHECK_USER}'@'127.0.0.1'`;
  await rows(group.primaryUrl, 'CREATE DATABASE IF NOT EXISTS primary_check');
  await rows(group.primaryUrl, 'CREATE TABLE IF NOT EXISTS primary_check.nothing (id INT PRIMARY KEY)');
  await rows(group.primaryUrl, `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${CHECK_USER}'`);
  await rows(group.primaryUrl, `GRANT SELECT ON performance_schema.replication_group_members TO ${account}`);
  await rows(group.primaryUrl, `GRANT SELECT ON primary_check.nothing TO ${account}`);
}

/** Creates a folder with a program `mysql`. */
async function clientFolder(folder: string): Promise<string> {
  const command = await mysqlCommand();
  const path = join(folder, 'client');
  await mkdir(path, { recursive: true });
  await writeFile(
    join(path, 'mysql'),
    `#!/bin/sh\nexec ${command.map((part) => `'${part}'`).join(' ')} "$@"\n`,
  );
  await chmod(join(path, 'mysql'), 0o755);
  return path;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
