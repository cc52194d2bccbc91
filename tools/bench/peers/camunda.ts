import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { cacheFolder } from '../../../test/support/databases/debian-package.js';
import { freePort } from '../../../test/support/databases/process-resources.js';
import type { Contender } from '../processes/contenders.js';
import { DATA, FORM } from '../processes/subject.js';
import { fileForm, HttpPeer } from './http-peer.js';
import { fileExists, maven, startPeer, type Java } from './java.js';
import { CALLERS, MANY, type Peer } from './peer.js';
import { PEER_PROCESS, reviewFor } from './review-model.js';

const VERSION = '7.24.0';
/** Connector/J options recommended for production. */
const CONNECTOR =
  '?useLocalSessionState=true&useServerPrepStmts=true&cachePrepStmts=true&prepStmtCacheSize=500' +
  '&prepStmtCacheSqlLimit=4096&cacheServerConfiguration=true&elideSetAutoCommits=true' +
  '&connectionTimeZone=UTC&allowPublicKeyRetrieval=true&useSSL=false';

/** Starts Camunda 7 with full history, in its own database on the service's MySQL server. */
export async function startCamunda(java: Java, databaseUrl: string): Promise<Peer> {
  const jar = await build(java);
  const port = await freePort();
  const database = new URL(databaseUrl);
  const url = `http://127.0.0.1:${port}/engine-rest`;
  const child = await startPeer(
    [join(java.home, 'bin', 'java'), '-jar', jar],
    {
      SERVER_ADDRESS: '127.0.0.1',
      SERVER_PORT: String(port),
      SPRING_DATASOURCE_URL: `jdbc:mysql://${database.host}${database.pathname}${CONNECTOR}`,
      SPRING_DATASOURCE_USERNAME: database.username,
      SPRING_DATASOURCE_PASSWORD: database.password,
      SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: '20',
      SPRING_DATASOURCE_HIKARI_TRANSACTION_ISOLATION: 'TRANSACTION_READ_COMMITTED',
      CAMUNDA_BPM_HISTORY_LEVEL: 'full',
    },
    `${url}/engine`,
  );
  await addIndex(databaseUrl);
  const http = new HttpPeer(url, MANY);
  await http.send('POST', '/deployment/create', fileForm('review', 'review.bpmn', reviewFor('camunda')));
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
  return {
    name: `Camunda ${VERSION}`,
    pid,
    callers: CALLERS,
    start: async () => {
      const { id } = (await http.send('POST', `/process-definition/key/${PEER_PROCESS}/start`, {
        variables: variablesOf(DATA),
      })) as { id: string };
      return {
        read: () => http.send('GET', `/process-instance/${id}`),
        // The response to a start contains no task, so its id is looked up before completions are measured.
        prepare: async () => {
          const [task] = (await http.send('GET', `/task?processInstanceId=${id}`)) as { id: string }[];
          return () => http.send('POST', `/task/${task?.id}/complete`, { variables: variablesOf(FORM) });
        },
      };
    },
  };
}

function variablesOf(data: object): object {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'object'
        ? { value: JSON.stringify(value), type: 'String' }
        : { value: value as unknown },
    ]),
  );
}

/** Builds Camunda into the cache folder unless it exists. Returns the path of the JAR file. */
async function build(java: Java): Promise<string> {
  const folder = join(cacheFolder(), '..', 'peers', `camunda-${VERSION}`);
  const jar = join(folder, 'camunda.jar');
  if (!(await fileExists(jar))) {
    await mkdir(folder, { recursive: true });
    const project = fileURLToPath(new URL('camunda/pom.xml', import.meta.url));
    await maven(java, ['-f', project, `-DbuildFolder=${folder}`, 'package']);
  }
  return jar;
}

/** Adds an index without which each completion reads all open tasks. */
async function addIndex(databaseUrl: string): Promise<void> {
  const connection = await createConnection({ uri: databaseUrl });
  await connection.query('CREATE INDEX BENCH_TASK_PARENT ON ACT_RU_TASK (PARENT_TASK_ID_)');
  await connection.end();
}
