import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/databases/free-port.js';
import { PrivateServer } from '../../support/databases/private-server.js';
import { serverProgram, type ServerProgram } from '../../support/databases/server-program.js';
import { rows } from './rows.js';

const MEMBERS = 3;
const JOIN_MS = 60_000;

/** Three MySQL servers that replicate as a group with a single primary, behind an address that leads to the primary. */
export class MysqlGroup {
  private primary: PrivateServer;
  private lost: { member: PrivateServer; recover: () => Promise<void> } | undefined;

  private constructor(
    private readonly members: readonly PrivateServer[],
    private readonly address: PrimaryAddress,
  ) {
    this.primary = this.memberAt(0);
  }

  /** The folder of the plugin; undefined when the server's package has none. */
  static async pluginFolder(): Promise<{ program: ServerProgram; folder: string } | undefined> {
    const program = await serverProgram('mysql');
    const folder = join(program.baseDir, 'lib/mysql/plugin');
    return existsSync(join(folder, 'group_replication.so')) ? { program, folder } : undefined;
  }

  static async start({ program, folder }: { program: ServerProgram; folder: string }): Promise<MysqlGroup> {
    const ports = await Promise.all(Array.from({ length: MEMBERS }, () => freePort()));
    const name = randomUUID();
    const members: PrivateServer[] = [];
    const address = await PrimaryAddress.listen();
    try {
      for (const [index, port] of ports.entries()) {
        const settings = memberSettings({ name, folder, index, port, ports });
        members.push(await PrivateServer.start(program, { settings }));
      }
      for (const [index, member] of members.entries()) {
        await joinGroup(member, index === 0);
      }
      const group = new MysqlGroup(members, address);
      address.leadTo(group.primaryUrl);
      return group;
    } catch (error) {
      await Promise.all(members.map((member) => member.stop()));
      await address.close();
      throw error;
    }
  }

  /** Leads to whichever member is the primary; connections that are open stay where they are. */
  get url(): string {
    return this.address.url;
  }

  /** An address of the member that is the primary at present, past the address. */
  get primaryUrl(): string {
    return this.primary.url;
  }

  /** Host and port of each member. */
  get places(): string[] {
    return this.members.map(({ url }) => new URL(url).host);
  }

  /**
   * Makes the next member the primary.
   * @returns when it took over, on the clock of `performance.now()`
   */
  async switchOver(): Promise<number> {
    const next = this.memberAt((this.members.indexOf(this.primary) + 1) % MEMBERS);
    const [row] = await rows(next.url, 'SELECT @@server_uuid AS id');
    await rows(this.primary.url, `SELECT group_replication_set_as_primary('${String(row?.['id'])}')`);
    return this.lead(next);
  }

  /** Kills the primary; the others choose another one. */
  async killPrimary(): Promise<number> {
    const dead = this.primary;
    await dead.kill('SIGKILL');
    this.lost = { member: dead, recover: () => dead.restart() };
    return this.lead(await this.writable(this.members.filter((member) => member !== dead)));
  }

  /** Stops the primary without a word (SIGSTOP); the others choose another one. */
  async stopPrimary(): Promise<number> {
    const silent = this.primary;
    const [row] = await rows(silent.url, 'SELECT @@pid_file AS path');
    const pid = Number(await readFile(String(row?.['path']), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    this.lost = { member: silent, recover: async () => void process.kill(pid, 'SIGCONT') };
    return this.lead(await this.writable(this.members.filter((member) => member !== silent)));
  }

  /** Lets all members take writes, or only one of them again. */
  async setPrimaries(which: 'one' | 'all'): Promise<void> {
    const [row] = await rows(this.primary.url, 'SELECT @@server_uuid AS id');
    const name = which === 'all' ? 'multi_primary_mode()' : `single_primary_mode('${String(row?.['id'])}')`;
    await rows(this.primary.url, `SELECT group_replication_switch_to_${name}`);
  }

  /** Brings the member back that was killed or stopped, if one was. */
  async heal(): Promise<void> {
    if (this.lost !== undefined) {
      const { member, recover } = this.lost;
      this.lost = undefined;
      await recover();
      await rows(member.url, 'STOP GROUP_REPLICATION');
      await joinGroup(member, false);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await this.address.close();
  }

  private async lead(next: PrivateServer): Promise<number> {
    await this.writable([next]);
    this.primary = next;
    this.address.leadTo(next.url);
    return performance.now();
  }

  private async writable(members: readonly PrivateServer[]): Promise<PrivateServer> {
    const deadline = performance.now() + JOIN_MS;
    while (performance.now() < deadline) {
      for (const member of members) {
        const [row] = await rows(member.url, 'SELECT @@super_read_only AS closed').catch(() => []);
        if (Number(row?.['closed']) === 0) {
          return member;
        }
      }
      await sleep(20);
    }
    throw new Error('the group has no primary');
  }

  private memberAt(index: number): PrivateServer {
    const member = this.members[index];
    if (member === undefined) {
      throw new Error('the group has no such member');
    }
    return member;
  }
}

interface MemberPlace {
  name: string;
  folder: string;
  index: number;
  /** Where members talk to each other. */
  port: number;
  ports: readonly number[];
}

function memberSettings({ name, folder, index, port, ports }: MemberPlace): string[] {
  return [
    `--server-id=${index + 1}`,
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
    '--log-bin=binlog',
    '--performance-schema=ON',
    `--plugin-dir=${folder}`,
    '--plugin-load-add=group_replication.so',
    '--report-host=127.0.0.1',
    `--loose-group-replication-group-name=${name}`,
    '--loose-group-replication-start-on-boot=OFF',
    `--loose-group-replication-local-address=127.0.0.1:${port}`,
    `--loose-group-replication-group-seeds=${ports.map((each) => `127.0.0.1:${each}`).join(',')}`,
    '--loose-group-replication-recovery-get-public-key=ON',
    '--loose-group-replication-ip-allowlist=127.0.0.1/8',
    // As docs/operations.md says: a member that is gone makes room for another primary at once.
    '--loose-group-replication-member-expel-timeout=0',
  ];
}

async function joinGroup(member: PrivateServer, isFirst: boolean): Promise<void> {
  const channel = "FOR CHANNEL 'group_replication_recovery'";
  await rows(member.url, `CHANGE REPLICATION SOURCE TO SOURCE_USER='svc', SOURCE_PASSWORD='svc' ${channel}`);
  if (isFirst) {
    await rows(member.url, 'SET GLOBAL group_replication_bootstrap_group = ON');
  }
  await rows(member.url, 'START GROUP_REPLICATION');
  if (isFirst) {
    await rows(member.url, 'SET GLOBAL group_replication_bootstrap_group = OFF');
  }
  const deadline = performance.now() + JOIN_MS;
  const state = `SELECT member_state AS state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid`;
  while ((await rows(member.url, state))[0]?.['state'] !== 'ONLINE') {
    if (performance.now() > deadline) {
      throw new Error('a member did not join the group');
    }
    await sleep(50);
  }
}

/** A TCP address whose new connections lead to one server and then to another, as the address of a cluster does. */
class PrimaryAddress {
  private target: { host: string; port: number } | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((client) => this.accept(client));

  static async listen(): Promise<PrimaryAddress> {
    const address = new PrimaryAddress();
    await new Promise<void>((resolve) => {
      address.server.listen(0, '127.0.0.1', resolve);
    });
    return address;
  }

  get url(): string {
    return `mysql://svc:svc@127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  leadTo(url: string): void {
    const { hostname, port } = new URL(url);
    this.target = { host: hostname, port: Number(port) };
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  private accept(client: Socket): void {
    if (this.target === undefined) {
      client.destroy();
      return;
    }
    const server = connect(this.target);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.on('data', (bytes) => other.write(bytes));
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
