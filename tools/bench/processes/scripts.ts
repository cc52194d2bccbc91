import { randomUUID } from 'node:crypto';
import { createConnection, type Pool } from 'mysql2/promise';
import { type Recording, recordStatements } from '../statements.js';
import type { Contender } from './contenders.js';
import { FIRST_TASK } from './models.js';
import { Replay } from './replay.js';
import { DATA, FORM, type Subject, type Waiting } from './subject.js';

/** First id per table: long and far apart, so that no recorded id is part of another number. */
const FIRST_IDS: Record<string, number> = {
  'process-instance': 41_000_000_001,
  'process-token': 42_000_000_001,
  job: 43_000_000_001,
};
/** First id that the scripts use. */
const SCRIPT_IDS = 51_000_000_001;
const TOKENS_APART = 1_000_000_000;

/** Makes ids start at recognizable values. Must run before the service takes any. */
export async function spreadIds(databaseUrl: string): Promise<void> {
  const connection = await createConnection({ uri: databaseUrl });
  for (const [name, next] of Object.entries(FIRST_IDS)) {
    await connection.query('REPLACE INTO id_blocks (name, next) VALUES (?, ?)', [name, next]);
  }
  await connection.end();
}

/** Recorded statements of one start and of one UI action of the service. */
export interface Recorded {
  start: Replay;
  action: Replay;
}

/** Records the statements that the service sends for a single caller, so each step is its own transaction. */
export async function record(subject: Subject, serverUrl: string, pool: Pool): Promise<Recorded> {
  // Fill all caches and look up the id of the UI action first, since neither is part of a request.
  await subject.act('application', await subject.start('application', DATA), FIRST_TASK, FORM);
  const start = await recordStatements(serverUrl, () => subject.start('application', DATA));
  const action = await recordStatements(
    serverUrl,
    async (waiting: Waiting) => {
      await subject.act('application', waiting, FIRST_TASK, FORM);
      return waiting;
    },
    () => subject.start('application', DATA),
  );
  const replay = ({ statements, result }: Recording<Waiting>): Replay =>
    new Replay(pool, statements, idsOf(result));
  return { start: replay(start), action: replay(action) };
}

/** Returns scripts that only send the recorded statements: in one transaction each, and in groups like the service. */
export function scripts({ start, action }: Recorded, callers: readonly number[]): Contender[] {
  let last = SCRIPT_IDS;
  const script = (name: string, way: 'alone' | 'inGroup'): Contender => ({
    name,
    pid: process.pid,
    callers,
    start: async () => {
      last += 1;
      const ids = idsOf({
        instanceId: last,
        tokenId: last + TOKENS_APART,
        uuid: randomUUID(),
        tokenUuid: randomUUID(),
      });
      await start[way](ids);
      return { act: () => action[way](ids) };
    },
  });
  return [script('script, one transaction each', 'alone'), script('script, in groups', 'inGroup')];
}

function idsOf({ instanceId, uuid, tokenId, tokenUuid }: Waiting): string[] {
  return [String(instanceId), uuid, String(tokenId), tokenUuid];
}
