import { resolve } from 'node:path';
import { EnvError } from './env.js';

/**
 * Runs a command and sets the exit status that it returns. The status is 78 (EX_CONFIG) for invalid settings, and 1 for
 * any other error. Only the safe part of an error is printed.
 */
export async function runCli(
  command: (args: string[], print: (line: string) => void) => Promise<number>,
): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe);
  try {
    process.exitCode = await command(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** Ignores that a reader of the output, such as `head`, has stopped: the command still completes its work. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') {
    throw error;
  }
}

/** Reports why a process could not start, and exits with the same statuses. */
export function printErrorAndExit(error: unknown): never {
  process.exit(report(error));
}

function report(error: unknown): number {
  process.stderr.write(`${describe(error)}\n`);
  return exitStatusOf(error);
}

/** Returns 78 (EX_CONFIG) for invalid settings, 1 for any other error. */
export function exitStatusOf(error: unknown): number {
  return error instanceof EnvError ? EnvError.exitCode : 1;
}

/**
 * Returns the safe part of an error. Messages of libraries may contain addresses, statements or credentials, so only
 * their code is shown.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'The command failed.';
  }
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `The command failed: ${error.name} ${code}` : error.message;
}

/**
 * Resolves a path of the command line from the folder in which the user typed it. npm runs scripts in the folder of
 * package.json and passes the original folder in INIT_CWD.
 * @param scripts names in package.json for which INIT_CWD applies; other scripts may have left it in the environment
 */
export function pathAsTyped(path: string, ...scripts: string[]): string {
  const { INIT_CWD: folder, npm_lifecycle_event: running } = process.env;
  return resolve(scripts.includes(running ?? '') && folder !== undefined ? folder : '.', path);
}
