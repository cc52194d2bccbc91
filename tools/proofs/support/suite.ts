import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import type { DatabaseKind } from '../../../test/support/databases/server-program.js';
import { killOnExit } from '../../../test/support/databases/process-resources.js';
import { ProofError, type Proof } from './proof.js';

const FOLDER = 'tools/proofs/suites';

/**
 * Returns a proof that runs the test files of a folder in tools/proofs/suites, which take too long for `npm test`.
 * @param name name of the folder
 * @param others folders with additional tests
 */
export function suite(
  name: string,
  claim: string,
  shortDatabases: readonly DatabaseKind[],
  ...others: readonly string[]
): Proof {
  return {
    name,
    claim,
    databases: ['embedded', 'mariadb', 'mysql'],
    shortDatabases,
    isSuite: true,
    async run({ kind }) {
      const child = killOnExit(
        spawn(
          'npx',
          ['--no-install', 'vitest', 'run', '--project', 'suites', `${FOLDER}/${name}/`, ...others],
          {
            env: { ...process.env, TEST_DATABASE: kind, TEST_BUILT: 'true' },
            stdio: ['ignore', 'pipe', 'pipe'],
          },
        ),
      );
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      const [, counts] = /Tests\s+(.*)/.exec(stripVTControlCharacters(output)) ?? [];
      if (status !== 0 || counts === undefined) {
        throw new ProofError(`${output}\n${errors}`);
      }
      return `${readdirSync(`${FOLDER}/${name}`).length} files: ${counts}`;
    },
  };
}
