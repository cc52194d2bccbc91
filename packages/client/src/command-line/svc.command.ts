import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ServiceError, SvcError } from '../index.js';
import { differences, RUNNING, withdraw } from './commands/build-commands.js';
import { completionScript, SHELLS } from './completion.js';
import { INCIDENT_STATES, incidents, retry } from './commands/incident-commands.js';
import { act, show, startProcess } from './commands/process-commands.js';
import { Session, UsageError, type SharedOptions, type SvcEnvironment } from './session.js';
import { printable } from '../../../../src/platform/printable.js';
import { tools } from './commands/tools-command.js';
import { trace } from './commands/trace-command.js';

const REFUSED = 1;
const USAGE = 2;
const SERVER_ERROR = 500;
const LIST_LENGTH = 20;
const TIMEOUT_SECONDS = 120;

const DATA = 'JSON, @FILE, or - for standard input';

const FORCE = 'activate the build even if an agent cannot run';
type Repeatable = [string, string, typeof several, string[]];
const LIBRARY: Repeatable = ['--library <app=build>', 'build of a library; repeatable', several, []];
const BASE_URL: Repeatable = ['--base-url <system=url>', 'address of a system; repeatable', several, []];

/**
 * Runs the command line `svc` (docs/commands.md).
 * @returns the exit status: 0 success, 1 failure, 2 invalid command line
 */
export async function svc(args: string[], environment: SvcEnvironment): Promise<number> {
  let status = 0;
  const program = programOf(environment, (result) => {
    status = result;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, environment);
  }
}

/**
 * Prints an error of the command line or the service and returns the exit status.
 * @throws all other errors
 */
function statusOf(error: unknown, { printError }: SvcEnvironment): number {
  if (error instanceof CommanderError) {
    // Commander has already printed the message. Help is not an error.
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

function programOf(environment: SvcEnvironment, done: (status: number) => void): Command {
  const program = new Command('svc')
    .description('Applications and processes of svc-platform.')
    .option(
      '--url <url>',
      'service (default: SVC_URL, else, without a token, the evaluation server of this machine)',
    )
    .option('--token <token>', 'bearer token (default: SVC_TOKEN); other users of the machine can see it')
    .option('--json', 'print one line of JSON for scripts instead of a table')
    .option('--timeout <seconds>', 'timeout of each request', upTo(99_999, 'of seconds'), TIMEOUT_SECONDS)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => environment.print(text.trimEnd()),
      writeErr: (text) => environment.printError(text.trimEnd()),
    });
  const running: Running =
    (run) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const session = new Session(environment, command.optsWithGlobals<SharedOptions>());
      done(await run(session, ...(given.slice(0, -1) as never[])));
    };
  addAuthorCommands(program, running);
  addProcessCommands(program, running);
  addReadingCommands(program, running);
  program
    .command('completion')
    .description('print a script that completes commands: source <(svc completion bash)')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => environment.print(completionScript(program, shell)));
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
    .description('write a small runnable application into a new folder')
    .option('--app <id>', 'id of the application (default: name of the folder)')
    .action(running(loaded(() => import('./commands/author-commands.js'), 'initApplication')));
  program
    .command('validate <folder>')
    .description('check a package without a service')
    .action(running(loaded(() => import('./commands/author-commands.js'), 'validateFolder')));
  program
    .command('deliver <folder>')
    .description('deliver a folder to a version; options choose further steps')
    .option('--version <id>', 'version of the application (required)')
    .option('--app <id>', 'application (default: that of application.json)')
    .option('--commit', 'commit the version')
    .option('--message <text>', 'message of the commit')
    .option('--build', 'make a build')
    .option('--activate', 'activate the build')
    .option('--test-connections', 'test the MCP systems before the commit; stop if a test fails')
    .option('--force', FORCE)
    .option(...LIBRARY)
    .option(...BASE_URL)
    .action(running(loaded(() => import('./deliver-folder.js'), 'deliverFolder')));
  program
    .command('watch <folder>')
    .description('deliver, test connections, commit, build and activate at every change, until Ctrl-C')
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
    .description('show the differences between a build and the active one')
    .option('--base <build>', 'compare with this build instead')
    .action(running(differences));
  program
    .command('withdraw <app> <build>')
    .description('withdraw a build permanently, so that it can no longer be started')
    .addOption(
      new Option('--running <what>', 'how to treat running instances').choices(RUNNING).default('continue'),
    )
    .action(running(withdraw));
}

function addProcessCommands(program: Command, running: Running): void {
  program
    .command('start <app> <process>')
    .description('start a process of the active build')
    .option('--data <json>', `data of the process: ${DATA}`)
    .option('--build <id>', 'use another build')
    .option('--start-condition <name>', 'start event to use if there are several')
    .option('--key <key>', 'Idempotency-Key: repeated calls with it take effect once')
    .option('--follow', 'print events until the instance ends')
    .action(running(startProcess));
  program
    .command('act <instance> <action>')
    .description('execute a UI action, by its name')
    .option('--data <json>', `body of the action: ${DATA}`)
    .option('--at <token>', 'token to use if the action is open on several')
    .option('--key <key>', 'Idempotency-Key: repeated calls with it take effect once')
    .action(running(act));
}

function addReadingCommands(program: Command, running: Running): void {
  program
    .command('show [instance]')
    .description('show an instance, or list instances, newest first')
    .option('--app <id>', 'only of this application')
    .option('--process <name>', 'only of this process')
    .option('--state <state>', 'only in this state')
    .option('--data <path:value>', 'only with this value in the data; repeatable', several, [])
    .option('--limit <number>', 'maximum number', upTo(999), LIST_LENGTH)
    .option('--follow', 'print events until the instance ends')
    .action(running(show));
  program
    .command('trace <instance>')
    .description('show the history of an instance, and its workflow runs with their calls')
    .action(running(trace));
  addIncidentCommands(program, running);
}

function addIncidentCommands(program: Command, running: Running): void {
  program
    .command('incidents')
    .description('list incidents of all instances, newest first')
    .option('--app <id>', 'only in this application')
    .option('--build <id>', 'only in this build')
    .option('--process <name>', 'only in this process')
    .option('--element <id>', 'only at this element of the BPMN file')
    .option('--code <code>', 'only this kind of failure')
    .addOption(new Option('--state <state>', 'only in this state').choices(INCIDENT_STATES).default('OPEN'))
    .option('--from <time>', 'only incidents raised at this time or later')
    .option('--to <time>', 'only incidents raised before this time')
    .option('--limit <number>', 'maximum number', upTo(9_999), LIST_LENGTH)
    .option('--counts', 'count open incidents by place, most first')
    .action(running(incidents));
  program
    .command('retry <instance>')
    .description('retry an instance where it stopped')
    .option('--at <token>', 'only this token')
    .option('--data <json>', `JSON merge patch that corrects process data first: ${DATA}`)
    .action(running(retry));
}

function several(value: string, before: string[]): string[] {
  return [...before, value];
}

/** Returns a parser for whole numbers from 1. */
function upTo(most: number, what = `from 1 to ${most}`): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d*$/.test(text) || Number(text) > most) {
      throw new InvalidArgumentError(`It must be a whole number ${what}.`);
    }
    return Number(text);
  };
}
