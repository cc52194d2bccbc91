import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { printTurns, takeTurns } from '../processes/contenders.js';
import { chain } from '../processes/models.js';
import { Subject } from '../processes/subject.js';
import { databasePid, residentMegabytes } from '../processor.js';
import { MEASURED_SERVICE } from '../service-settings.js';
import { startCamunda } from './camunda.js';
import { findJava, type Java } from './java.js';
import { CALLERS, MANY, type Peer } from './peer.js';
import { PEER_PROCESS } from './review-model.js';
import { startZeebe } from './zeebe.js';

/** Extent of the measurement. */
export interface PeerBenchOptions {
  serverUrl: string;
  /** Folder for the data of peers. */
  folder: string;
  rounds: number;
  /** Duration of each phase in a round. */
  seconds: number;
  /** Duration of the warm-up for each kind of work. */
  warmUpSeconds: number;
}

/**
 * Compares the service with Camunda 7 on the same MySQL server and with Zeebe on its own log, all with durable commits over
 * HTTP. Prints figures without judging them; prints one line if the machine cannot run the peers.
 */
export async function benchPeers(environment: ProofEnvironment, options: PeerBenchOptions): Promise<void> {
  let java: Java;
  try {
    java = await findJava();
  } catch (error) {
    console.log(`\npeers: skipped, ${(error as Error).message}`);
    return;
  }
  const peers: Peer[] = [];
  try {
    const peerDatabase = await environment.emptyDatabase();
    peers.push(await startCamunda(java, peerDatabase.replace(/^mariadb:/, 'mysql:')));
    peers.push(await startZeebe(java, options.folder));
    await compare(environment, peers, options);
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

async function compare(
  environment: ProofEnvironment,
  peers: readonly Peer[],
  { serverUrl, rounds, seconds, warmUpSeconds }: PeerBenchOptions,
): Promise<void> {
  const databaseUrl = await environment.emptyDatabase();
  const service = await environment.startService(databaseUrl, MEASURED_SERVICE);
  const subject = new Subject(service.url, await environment.token(), MANY);
  await subject.publish({ [PEER_PROCESS]: chain(PEER_PROCESS, 1) });
  const own = subject.contender('service', service.pid, CALLERS, { process: PEER_PROCESS, task: 'task0' });
  const contenders = [own, ...peers.map(({ contender }) => contender)];
  console.log(
    `\npeers: ${rounds} rounds, phases of ${seconds} s after a warm-up of ${warmUpSeconds} s for each kind of work; start, one user task, end; MySQL flushes to disk on commit, connection pools of 10`,
  );
  printTurns(
    await takeTurns(contenders, {
      rounds,
      seconds,
      warmUpSeconds,
      databasePid: await databasePid(serverUrl),
    }),
  );
  console.log(
    '\nNot equivalent: the service checks a token, enforces rate limits, writes an access log and history events; Camunda (full history) and Zeebe run without authentication. ' +
      "Camunda's start response contains no task; the lookup is not measured. Zeebe cannot read an instance without an exporter, and does not use MySQL.",
  );
  for (const peer of peers) {
    console.log(`${peer.contender.name}: ${peer.refusals()} requests answered 429 and retried`);
  }
  for (const { name, pid } of contenders) {
    console.log(`${name}: ${residentMegabytes(pid).toFixed(0)} MB of memory afterwards`);
  }
  await subject.close();
}
