import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackedProgram } from '../databases/debian-package.js';
import { freePort } from '../databases/free-port.js';

const START_TIMEOUT_MS = 20_000;
const PAUSE_MS = 50;

/** A name server of our own on loopback. */
export interface Dnsmasq {
  /** Address and port. */
  address: string;
  stop(): Promise<void>;
}

/**
 * Starts dnsmasq with nothing but these records.
 * @param records options such as `--srv-host=…` and `--txt-record=…`
 * @param wanted port. @default a free one
 * @throws Error in one sentence where the program cannot be had
 */
export async function startDnsmasq(records: string[], wanted?: number): Promise<Dnsmasq> {
  const { command } = await unpackedProgram('bookworm', 'dnsmasq-base', '/usr/sbin/dnsmasq');
  const port = wanted ?? (await freePort());
  const [file, ...args] = command;
  const own = [
    '--no-daemon',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--no-poll',
    '--bind-interfaces',
  ];
  const place = ['--listen-address=127.0.0.1', `--port=${port}`, '--user=', '--group=', '--pid-file='];
  const child = spawn(file, [...args, ...own, ...place, '--local=/test/', ...records], { stdio: 'ignore' });
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  const gone = once(child, 'exit');
  const address = `127.0.0.1:${port}`;
  await untilItAnswers(address, () => child.exitCode !== null);
  return {
    address,
    stop: async () => {
      child.kill('SIGKILL');
      await gone;
      process.removeListener('exit', onExit);
    },
  };
}

async function untilItAnswers(address: string, hasEnded: () => boolean): Promise<void> {
  const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([address]);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isAnswered(resolver))) {
    if (hasEnded() || Date.now() > deadline) {
      throw new Error('dnsmasq did not start');
    }
    await sleep(PAUSE_MS);
  }
}

async function isAnswered(resolver: dns.Resolver): Promise<boolean> {
  try {
    await resolver.resolveTxt('ready.test');
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'ENOTFOUND';
  }
}
