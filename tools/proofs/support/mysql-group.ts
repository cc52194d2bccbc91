import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../test/support/databases/process-resources.js';
import { PrivateServer } from '../../../test/support/databases/private-server.js';
import { serverProgram, type ServerProgram } from '../../../test/support/databases/server-program.js';
import { rows } from './rows.js';

const MEMBERS = 3;
/** Timeout for joining. A new member first applies all missed transactions, as fast as its disk permits. */
const JOIN_MS = 180_000;

/** Three MySQL servers that replicate as a group with a single primary. */
export class MysqlGroup {
  private primary: PrivateServer;
  private lost: { member: PrivateServer; recover: () => Promise<void> } | undefined;

  private constructor(private readonly members: readonly PrivateServer[]) {
    this.primary = this.memberAt(0);
  }

  /** Returns the folder of the plugin. @throws Error when the server's package lacks it */
  static async requirePlugin(): Promise<{ program: ServerProgram; folder: string }> {
    const program = await serverProgram('mysql');
    const folder = join(program.baseDir, 'lib/mysql/plugin');
    if (!existsSync(join(folder, 'group_replication.so'))) {
      throw new Error('the local MySQL lacks the plugin group_replication');
    }
    return { program, folder };
  }

  static async start({ program, folder }: { program: ServerProgram; folder: string }): Promise<MysqlGroup> {
    const ports = await Promise.all(Array.from({ length: MEMBERS }, () => freePort()));
    const name = randomUUID();
    const members: PrivateServer[] = [];
    try {
      for (const [index, port] of ports.entries()) {
        const settings = memberSettings({ name, folder, index, port, ports });
        members.push(await PrivateServer.start(program, { settings }));
      }
      for (const [index, member] of members.entries()) {
        await joinGroup(member, index === 0);
      }
      return new MysqlGroup(members);
    } catch (error) {
      await Promise.all(members.map((member) => member.stop()));
      throw error;
    }
  }

  /** URL of the current primary. */
  get primaryUrl(): string {
    return this.primary.url;
  }

  /** Hosts and ports of all members. */
  get addresses(): string[] {
    return this.members.map(({ url }) => new URL(url).host);
  }

  /**
   * Makes the next member the primary.
   * @returns time of the takeover, by `performance.now()`
   */
  async switchOver(): Promise<number> {
    const next = this.memberAt((this.members.indexOf(this.primary) + 1) % MEMBERS);
    const [row] = await rows(next.url, 'SELECT @@server_uuid AS id');
    await rows(this.primary.url, `SELECT group_replication_set_as_primary('${String(row?.['id'])}')`);
    return this.makePrimary(next);
  }

  /** Kills the primary and waits until the others have elected a new one. */
  async killPrimary(): Promise<number> {
    const dead = this.primary;
    await dead.kill('SIGKILL');
    this.lost = { member: dead, recover: () => dead.restart() };
    return this.makePrimary(await this.firstWritable(this.members.filter((member) => member !== dead)));
  }

  /** Suspends the primary (SIGSTOP) and waits until the others have elected a new one. */
  async stopPrimary(): Promise<number> {
    const silent = this.primary;
    const [row] = await rows(silent.url, 'SELECT @@pid_file AS path');
    const pid = Number(await readFile(String(row?.['path']), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    this.lost = { member: silent, recover: async () => void process.kill(pid, 'SIGCONT') };
    return this.makePrimary(await this.firstWritable(this.members.filter((member) => member !== silent)));
  }

  /** Brings back the member that was killed or suspended, if any. */
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
  }

  private async makePrimary(next: PrivateServer): Promise<number> {
    await this.firstWritable([next]);
    this.primary = next;
    return performance.now();
  }

  private async firstWritable(members: readonly PrivateServer[]): Promise<PrivateServer> {
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

interface MemberConfig {
  name: string;
  folder: string;
  index: number;
  /** Port for communication between members. */
  port: number;
  ports: readonly number[];
}

function memberSettings({ name, folder, index, port, ports }: MemberConfig): string[] {
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
    // As recommended in docs/operations.md: an unreachable member is replaced immediately.
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
