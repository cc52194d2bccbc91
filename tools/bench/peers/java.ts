import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killOnExit } from '../../../test/support/databases/process-resources.js';

const run = promisify(execFile);
const START_TIMEOUT_MS = 120_000;
const LOOK_MS = 500;
const OUTPUT_KEPT = 4_000;
/** Oldest Java version that Zeebe supports. */
const MIN_VERSION = 21;
/** Folder in which Linux distributions install JDKs. */
const JDKS = '/usr/lib/jvm';

/** Java installation that the peers use. */
export interface Java {
  /** JAVA_HOME of the newest JDK. */
  home: string;
}

/**
 * Returns the newest installed JDK.
 * @throws Error when no suitable JDK or no Maven is installed
 */
export async function findJava(): Promise<Java> {
  const installed = (await readdir(JDKS).catch(() => [])).map((name) => join(JDKS, name));
  const homes = [process.env['JAVA_HOME'] ?? '', ...installed];
  const versions = await Promise.all(homes.map(async (home) => ({ home, version: await versionOf(home) })));
  const [newest] = versions.toSorted((one, other) => other.version - one.version);
  if (newest === undefined || newest.version < MIN_VERSION) {
    throw new Error(`there is no JDK ${MIN_VERSION} or newer in JAVA_HOME or ${JDKS}`);
  }
  await run('mvn', ['--version']).catch(() => {
    throw new Error('there is no Maven');
  });
  return newest;
}

/** Runs Maven. The user's Maven configuration selects the repositories. */
export async function maven({ home }: Java, args: readonly string[]): Promise<void> {
  await run('mvn', ['-q', '-B', ...args], {
    env: { ...process.env, JAVA_HOME: home },
    maxBuffer: 16_777_216,
  });
}

/** A running peer. */
export interface PeerProcess {
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a program and waits until `readyUrl` responds.
 * @throws Error with the end of its output when it does not start
 */
export async function startPeer(
  [file = '', ...args]: readonly string[],
  env: Record<string, string>,
  readyUrl: string,
): Promise<PeerProcess> {
  const child: ChildProcess = killOnExit(
    spawn(file, args, { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
    });
  }
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(readyUrl))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${file} did not start:\n${output}`);
    }
    await sleep(LOOK_MS);
  }
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Returns whether a file exists. */
export async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function versionOf(home: string): Promise<number> {
  try {
    const { stderr } = await run(join(home, 'bin', 'java'), ['-version']);
    return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_MS * 4) }).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.ok === true;
}
