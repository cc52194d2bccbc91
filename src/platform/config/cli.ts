import { resolve } from 'node:path';
import { EnvError } from './env.js';

/**
 * Runs a command of ours, and ends the process with the status that the command returns. The status is 78 (EX_CONFIG)
 * for wrong settings, and 1 for any other error. Only the safe part of an error is printed.
 */
export async function runCli(
  command: (args: string[], print: (line: string) => void) => Promise<number>,
): Promise<void> {
  process.stdout.on('error', goOnUnheard);
  try {
    process.exitCode = await command(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.exitCode = tell(error);
  }
}

/** Whoever reads the output, such as `head`, has read enough: what was begun is done all the same. */
function goOnUnheard(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') {
    throw error;
  }
}

/** Ends a process that a person has started and that could not start, with the same statuses. */
export function endWithStartError(error: unknown): never {
  process.exit(tell(error));
}

function tell(error: unknown): number {
  process.stderr.write(`${describe(error)}\n`);
  return exitStatusOf(error);
}

/** 78 (EX_CONFIG) for wrong settings, 1 for any other error. */
export function exitStatusOf(error: unknown): number {
  return error instanceof EnvError ? EnvError.exitCode : 1;
}

/** Errors of libraries may quote addresses, statements or credentials: of them only the code is shown. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'The command failed.';
  }
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `The command failed: ${error.name} ${code}` : error.message;
}

/**
 * A path of the command line, as the person who typed it means it. npm runs a script in the folder of package.json, and
 * tells in INIT_CWD where npm itself was called.
 * @param scripts names in package.json; what another one has left in the environment means nothing
 */
export function pathAsTyped(path: string, ...scripts: string[]): string {
  const { INIT_CWD: folder, npm_lifecycle_event: running } = process.env;
  return resolve(scripts.includes(running ?? '') && folder !== undefined ? folder : '.', path);
}
