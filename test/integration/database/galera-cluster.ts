import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { unpacked } from '../../support/databases/debian-package.js';
import { freePort, processFolder } from '../../support/databases/process-resources.js';
import { PrivateServer } from '../../support/databases/private-server.js';
import { serverProgram } from '../../support/databases/server-program.js';

const JOIN_MS = 60_000;
const PROVIDER = '/usr/lib/galera/libgalera_smm.so';

const TRANSFER = 'copy';
/** State transfer script. Donor and joiner run it with their role; each prints what its server waits for. */
const TRANSFER_SCRIPT = `#!/bin/sh
set -eu
place=$(dirname "$0")/state
while [ $# -gt 0 ]; do
  case $1 in --role) role=$2 ;; --datadir) data=$2 ;; --address) address=$2 ;; esac
  shift
done
if [ "$role" = donor ]; then
  echo 'flush tables'
  until [ -s "$data/tables_flushed" ]; do sleep 0.1; done
  position=$(cat "$data/tables_flushed")
  rm "$data/tables_flushed"
  mkdir "$place.files"
  cp -a "$data"/ibdata* "$data"/ib_logfile* "$data"/aria_log* "$data"/mysql "$place.files"
  echo continue
  echo "$position" >"$place.new"
  mv "$place.new" "$place"
  echo "done $position"
else
  echo "ready $address"
  until [ -s "$place" ]; do sleep 0.1; done
  cp -a "$place.files/." "$data"
  cat "$place"
fi
`;

/** MariaDB servers that form one Galera cluster in which every node accepts writes. */
export class GaleraCluster {
  private constructor(readonly nodes: readonly PrivateServer[]) {}

  /**
   * @param size number of nodes
   * @throws Error if the cluster cannot be started
   */
  static async start(size: number): Promise<GaleraCluster> {
    const program = await serverProgram('mariadb');
    const root = await unpacked({ suite: 'bookworm', packageNames: ['galera-4'], program: PROVIDER });
    const nodes: PrivateServer[] = [];
    await addTransfer();
    const first = await freePort();
    try {
      for (let index = 0; index < size; index += 1) {
        const port = index === 0 ? first : await freePort();
        nodes.push(
          await PrivateServer.start(program, {
            settings: [
              '--wsrep-on=ON',
              `--wsrep-provider=${join(root, PROVIDER)}`,
              `--wsrep-cluster-address=gcomm://${index === 0 ? '' : `127.0.0.1:${first}`}`,
              `--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${port};ist.recv_addr=127.0.0.1:${await freePort()}`,
              '--wsrep-node-address=127.0.0.1',
              `--wsrep-sst-method=${TRANSFER}`,
              `--wsrep-sst-receive-address=127.0.0.1:${await freePort()}`,
              '--binlog-format=ROW',
              '--innodb-autoinc-lock-mode=2',
            ],
          }),
        );
      }
      for (const node of nodes) {
        await synced(node, size);
      }
    } catch (error) {
      await Promise.all(nodes.map((node) => node.stop()));
      throw error;
    }
    return new GaleraCluster(nodes);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/**
 * Adds a state transfer method that copies files, because the unpacked server packages contain none. The servers look up its
 * program in the PATH that they inherit from this process.
 */
async function addTransfer(): Promise<void> {
  const folder = await processFolder(join(tmpdir(), 'svc-galera'));
  await writeFile(join(folder, `wsrep_sst_${TRANSFER}`), TRANSFER_SCRIPT, { mode: 0o755 });
  process.env['PATH'] = `${folder}:${process.env['PATH']}`;
}

/** Waits until a node accepts writes and sees all nodes of the cluster. */
async function synced(node: PrivateServer, size: number): Promise<void> {
  const connection = await createConnection({ uri: node.url.replace(/^mariadb:/, 'mysql:') });
  try {
    const deadline = Date.now() + JOIN_MS;
    for (let states: unknown[] = []; !states.includes(String(size)) || !states.includes('Synced');) {
      if (Date.now() > deadline) {
        throw new Error(`a node of Galera did not join: ${states.join(', ')}`);
      }
      await sleep(50);
      const [rows] = await connection.query<RowDataPacket[]>(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_local_state_comment')",
      );
      states = rows.map(({ Value }) => Value as unknown);
    }
  } finally {
    await connection.end();
  }
}
