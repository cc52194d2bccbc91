import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../test/support/databases/debian-package.js';
import { freePort } from '../../../test/support/databases/process-resources.js';
import type { Contender } from '../processes/contenders.js';
import { DATA, FORM } from '../processes/subject.js';
import { fileForm, HttpPeer } from './http-peer.js';
import { fileExists, maven, startPeer, type Java } from './java.js';
import { CALLERS, MANY, type Peer } from './peer.js';
import { PEER_PROCESS, reviewFor } from './review-model.js';

const VERSION = '8.6.0';
const BATCH = 500;
const JOB_TIMEOUT_MS = 600_000;

/** Starts a Zeebe broker with one partition, its own log and no exporter. */
export async function startZeebe(java: Java, folder: string): Promise<Peer> {
  const program = await unpack(java);
  const data = join(folder, 'zeebe');
  await mkdir(data, { recursive: true });
  const port = await freePort();
  const management = await freePort();
  const [command, internal, gateway] = [await freePort(), await freePort(), await freePort()];
  const child = await startPeer(
    [join(program, 'bin', 'broker')],
    {
      JAVA_HOME: java.home,
      ZEEBE_BROKER_GATEWAY_ENABLE: 'true',
      ZEEBE_BROKER_CLUSTER_PARTITIONSCOUNT: '1',
      ZEEBE_BROKER_NETWORK_HOST: '127.0.0.1',
      SERVER_PORT: String(port),
      MANAGEMENT_SERVER_PORT: String(management),
      ZEEBE_BROKER_NETWORK_COMMANDAPI_PORT: String(command),
      ZEEBE_BROKER_NETWORK_INTERNALAPI_PORT: String(internal),
      ZEEBE_BROKER_GATEWAY_NETWORK_PORT: String(gateway),
      ZEEBE_BROKER_CLUSTER_INITIALCONTACTPOINTS: `127.0.0.1:${internal}`,
      ZEEBE_BROKER_DATA_DIRECTORY: data,
    },
    `http://127.0.0.1:${management}/ready`,
  );
  const http = new HttpPeer(`http://127.0.0.1:${port}/v2`, MANY);
  await http.send('POST', '/deployments', fileForm('resources', 'review.bpmn', reviewFor('zeebe')));
  return {
    contender: contender(http, child.pid),
    refusals: () => http.refusals,
    stop: async () => {
      await http.close();
      await child.stop();
    },
  };
}

function contender(http: HttpPeer, pid: number): Contender {
  const tasks = new OpenTasks(http);
  return {
    name: `Zeebe ${VERSION}`,
    pid,
    callers: CALLERS,
    start: async () => {
      await http.send('POST', '/process-instances', { processDefinitionId: PEER_PROCESS, variables: DATA });
      return {
        act: async () => http.send('POST', `/jobs/${await tasks.next()}/completion`, { variables: FORM }),
      };
    },
  };
}

/** Waiting user tasks, fetched in batches as a worker would. Fetching is part of the measurement. */
class OpenTasks {
  private keys: string[] = [];
  private fetching: Promise<void> | undefined;

  constructor(private readonly http: HttpPeer) {}

  async next(): Promise<string> {
    for (;;) {
      const key = this.keys.pop();
      if (key !== undefined) {
        return key;
      }
      this.fetching ??= this.fetch().finally(() => {
        this.fetching = undefined;
      });
      await this.fetching;
    }
  }

  private async fetch(): Promise<void> {
    const { jobs } = (await this.http.send('POST', '/jobs/activation', {
      type: 'io.camunda.zeebe:userTask',
      worker: 'bench',
      timeout: JOB_TIMEOUT_MS,
      maxJobsToActivate: BATCH,
    })) as { jobs: { key?: string | number; jobKey?: string | number }[] };
    this.keys = jobs.map(({ key, jobKey }) => String(jobKey ?? key));
  }
}

/** Downloads and unpacks Zeebe into the cache folder unless it exists. Returns its folder. */
async function unpack(java: Java): Promise<string> {
  const folder = join(cacheFolder(), '..', 'peers');
  const program = join(folder, `camunda-zeebe-${VERSION}`);
  if (!(await fileExists(program))) {
    const work = join(folder, `zeebe-${process.pid}`);
    await mkdir(work, { recursive: true });
    await maven(java, [
      'dependency:copy',
      `-Dartifact=io.camunda:camunda-zeebe:${VERSION}:tar.gz`,
      `-DoutputDirectory=${work}`,
    ]);
    await promisify(execFile)('tar', ['-xzf', join(work, `camunda-zeebe-${VERSION}.tar.gz`), '-C', work]);
    await rename(join(work, `camunda-zeebe-${VERSION}`), program);
    await rm(work, { recursive: true });
  }
  return program;
}
