import { EnvError } from './env.js';

/**
 * Runs a command of ours: ends the process with the status it returns, 78 (EX_CONFIG) for wrong settings and 1 for any
 * other error, of which only the name and message are printed.
 * @param command gets the arguments of the command line and a printer of lines
 */
export async function runCli(
  command: (args: string[], print: (line: string) => void) => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await command(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
    process.exitCode = error instanceof EnvError ? EnvError.exitCode : 1;
  }
}
