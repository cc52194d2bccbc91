import { beforeAll, describe, expect, it } from 'vitest';
import { RuntimeDefinition } from '../../src/tokens/state/runtime-definition.js';
import { GeneratedProcess } from '../support/process-generator.js';
import { RandomWalk } from './random-walk.js';
import { Random } from '../support/random.js';
import { graphOf } from '../definitions/compile.js';

/** RANDOM_SEED repeats the run that printed it; RANDOM_PROCESSES makes it longer. */
const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 1_000_000);
const PROCESSES = Number(process.env.RANDOM_PROCESSES ?? 30);
const WALKS = 40;
const TIMEOUT_MS = 120_000;

/** Runs an attempt and adds the seed to its error, to reproduce the failure. */
function withSeed<T>(index: number, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`RANDOM_SEED=${SEED}, process ${index}: ${message}`, { cause: error });
  }
}

describe(`random processes (RANDOM_SEED=${SEED})`, () => {
  const processes: { process: GeneratedProcess; definition: RuntimeDefinition; random: Random }[] = [];

  beforeAll(async () => {
    for (let index = 0; index < PROCESSES; index += 1) {
      const random = new Random(SEED * 1_000 + index);
      const process = new GeneratedProcess(random, `process${index}`);
      processes.push({ process, definition: new RuntimeDefinition(await graphOf(process.xml)), random });
    }
  }, TIMEOUT_MS);

  it(
    'reach the tasks that their structure and data require',
    () => {
      processes.forEach(({ process, definition, random }, index) => {
        for (let walk = 0; walk < WALKS / 2; walk += 1) {
          withSeed(index, () => {
            const decisions = process.decide(random);
            const visited = new RandomWalk(definition, decisions, random, { backs: 0 }).run();
            expect(visited).toEqual(process.visits(decisions));
          });
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'end and keep the invariants, even when tokens go back',
    () => {
      let backs = 0;
      processes.forEach(({ process, definition, random }, index) => {
        for (let walk = 0; walk < WALKS / 2; walk += 1) {
          withSeed(index, () => {
            const decisions = process.decide(random);
            const visited = new RandomWalk(definition, decisions, random, { backs: 6 }).run();
            backs += Number(visited.length > process.visits(decisions).length);
          });
        }
      });
      expect(backs).toBeGreaterThan(PROCESSES);
    },
    TIMEOUT_MS,
  );
});
