import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ServiceError, SvcError } from '../index.js';
import { differences, RUNNING, withdraw } from './commands/build-commands.js';
import { completionScript, SHELLS } from './completion.js';
import { INCIDENT_STATES, incidents, retry } from './commands/incident-commands.js';
import { act, show, startProcess } from './commands/process-commands.js';
import { Session, UsageError, type SharedOptions, type SvcSurroundings } from './session.js';
import { printable } from '../../../../src/platform/printable.js';
import { tools } from './commands/tools-command.js';
import { trace } from './commands/trace-command.js';

const REFUSED = 1;
const USAGE = 2;
const SERVER_ERROR = 500;
const LIST_LENGTH = 20;
const TIMEOUT_SECONDS = 120;

const DATA = 'JSON, @FILE, or - for the standard input';

const FORCE = 'activate also a build with an agent that cannot run';
type Repeatable = [string, string, typeof several, string[]];
const LIBRARY: Repeatable = ['--library <app=build>', 'build of a library; repeatable', several, []];
const BASE_URL: Repeatable = ['--base-url <system=url>', 'address of a system; repeatable', several, []];

/**
 * The command line `svc` (docs/commands.md).
 * @returns the status of the process: 0 done, 1 refused or wrong, 2 when the command line cannot be meant
 */
export async function svc(args: string[], surroundings: SvcSurroundings): Promise<number> {
  let status = 0;
  const program = programOf(surroundings, (result) => {
    status = result;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, surroundings);
  }
}

/** @throws what is no fault of the command line or the service */
function statusOf(error: unknown, { printError }: SvcSurroundings): number {
  if (error instanceof CommanderError) {
    // It has told the rest; help is no mistake.
    return error.exitCode === 0 ? 0 : USAGE;
  }
  if (error instanceof UsageError) {
    printError(error.message);
    return USAGE;
  }
  if (error instanceof ServiceError) {
    const { status, message, details, requestId } = error;
    const why = details === undefined ? '' : ` (${details})`;
    const request = requestId === undefined || status < SERVER_ERROR ? '' : ` Request ${requestId}.`;
    printError(printable(`${status}: ${message}${why}${request}`));
    return REFUSED;
  }
  if (error instanceof SvcError) {
    printError(error.message);
    return REFUSED;
  }
  throw error;
}

function programOf(surroundings: SvcSurroundings, done: (status: number) => void): Command {
  const program = new Command('svc')
    .description('Applications and processes of svc-platform.')
    .option(
      '--url <url>',
      'service (default: SVC_URL, else, without a token, the evaluation server of this machine)',
    )
    .option('--token <token>', 'bearer token (default: SVC_TOKEN); other users of the machine can see it')
    .option('--json', 'one line of JSON for scripts, in place of a table')
    .option('--timeout <seconds>', 'limit of each request', upTo(99_999, 'of seconds'), TIMEOUT_SECONDS)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.printError(text.trimEnd()),
    });
  const running: Running =
    (run) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const session = new Session(surroundings, command.optsWithGlobals<SharedOptions>());
      done(await run(session, ...(given.slice(0, -1) as never[])));
    };
  addAuthorCommands(program, running);
  addProcessCommands(program, running);
  addReadingCommands(program, running);
  program
    .command('completion')
    .description('print a script that completes commands: source <(svc completion bash)')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => surroundings.print(completionScript(program, shell)));
  return program;
}

type Running = (
  run: (session: Session, ...given: never[]) => Promise<number>,
) => (...given: unknown[]) => Promise<void>;

type Run = Parameters<Running>[0];

/**
 * Loads a command when it runs. Commands that read packages need most of the modules of the program, and the others should not wait
 * for them.
 */
function loaded<Name extends string>(load: () => Promise<Record<Name, Run>>, name: Name): Run {
  return async (...given) => (await load())[name](...given);
}

function addAuthorCommands(program: Command, running: Running): void {
  program
    .command('init <folder>')
    .description('write a small application that runs into a new folder')
    .option('--app <id>', 'its id (default: the name of the folder)')
    .action(running(loaded(() => import('./commands/author-commands.js'), 'initApplication')));
  program
    .command('validate <folder>')
    .description('check a package without a service')
    .action(running(loaded(() => import('./commands/author-commands.js'), 'validateFolder')));
  program
    .command('deliver <folder>')
    .description('deliver a folder into a version, as far as is asked for')
    .option('--version <id>', 'version of the application (required)')
    .option('--app <id>', 'application (default: that of application.json)')
    .option('--commit', 'commit the version')
    .option('--message <text>', 'message of the commit')
    .option('--build', 'make a build')
    .option('--activate', 'activate the build')
    .option('--test-connections', 'test the MCP systems before the commit; end when a test fails')
    .option('--force', FORCE)
    .option(...LIBRARY)
    .option(...BASE_URL)
    .action(running(loaded(() => import('./deliver-order.js'), 'deliverFolder')));
  program
    .command('watch <folder>')
    .description('at every change: deliver, test connections, commit, build, activate; until Ctrl-C')
    .option('--app <id>', 'application (default: that of application.json)')
    .option('--force', FORCE)
    .option(...LIBRARY)
    .option(...BASE_URL)
    .action(running(loaded(() => import('./commands/watch-command.js'), 'watchFolder')));
  addContentCommands(program, running);
}

function addContentCommands(program: Command, running: Running): void {
  program
    .command('tools <app> <version>')
    .description('list the tools of the MCP systems of a version')
    .option('--enable <system/tool>', 'enable this tool first')
    .option('--disable <system/tool>', 'disable this tool first')
    .action(running(tools));
  program
    .command('differences <app> <build>')
    .description('show what a build has otherwise than the active one')
    .option('--base <build>', 'than this build of the application')
    .action(running(differences));
  program
    .command('withdraw <app> <build>')
    .description('withdraw a build for good: nothing of it is started any more')
    .addOption(
      new Option('--running <what>', 'what becomes of running instances')
        .choices(RUNNING)
        .default('continue'),
    )
    .action(running(withdraw));
}

function addProcessCommands(program: Command, running: Running): void {
  program
    .command('start <app> <process>')
    .description('start a process of the active build')
    .option('--data <json>', `data of the process: ${DATA}`)
    .option('--build <id>', 'another build')
    .option('--start-condition <name>', 'which start event, where there are several')
    .option('--key <key>', 'Idempotency-Key: the same call with it takes effect once')
    .option('--follow', 'print what happens until the instance ends')
    .action(running(startProcess));
  program
    .command('act <instance> <action>')
    .description('execute a UI action, by its name')
    .option('--data <json>', `body of the action: ${DATA}`)
    .option('--at <token>', 'which token, where the action is open on several')
    .option('--key <key>', 'Idempotency-Key: the same call with it takes effect once')
    .action(running(act));
}

function addReadingCommands(program: Command, running: Running): void {
  program
    .command('show [instance]')
    .description('show an instance, or list instances, newest first')
    .option('--app <id>', 'only of this application')
    .option('--process <name>', 'only of this process')
    .option('--state <state>', 'only in this state')
    .option('--data <path:value>', 'only with this value in their data; repeatable', several, [])
    .option('--limit <number>', 'how many', upTo(999), LIST_LENGTH)
    .option('--follow', 'print what happens until the instance ends')
    .action(running(show));
  program
    .command('trace <instance>')
    .description('show the history of an instance, and its runs of workflows with their calls')
    .action(running(trace));
  addIncidentCommands(program, running);
}

function addIncidentCommands(program: Command, running: Running): void {
  program
    .command('incidents')
    .description('list where processes have stopped, over all instances, newest first')
    .option('--app <id>', 'only in this application')
    .option('--build <id>', 'only in this build')
    .option('--process <name>', 'only in this process')
    .option('--element <id>', 'only at this element of the BPMN file')
    .option('--code <code>', 'only this kind of failure')
    .addOption(new Option('--state <state>', 'only in this state').choices(INCIDENT_STATES).default('OPEN'))
    .option('--from <time>', 'only those that were raised at this time or later')
    .option('--to <time>', 'only those that were raised before this time')
    .option('--limit <number>', 'how many', upTo(9_999), LIST_LENGTH)
    .option('--counts', 'how many are open at which place, most first')
    .action(running(incidents));
  program
    .command('retry <instance>')
    .description('go on where an instance stopped')
    .option('--at <token>', 'only this token')
    .option('--data <json>', `correct process data first, by a JSON merge patch: ${DATA}`)
    .action(running(retry));
}

function several(value: string, before: string[]): string[] {
  return [...before, value];
}

/** Reads a whole number from 1 on. */
function upTo(most: number, what = `from 1 to ${most}`): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d*$/.test(text) || Number(text) > most) {
      throw new InvalidArgumentError(`It must be a whole number ${what}.`);
    }
    return Number(text);
  };
}
