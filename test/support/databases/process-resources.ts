import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { connect, createServer, type Server } from 'node:net';
import type { ChildProcess } from 'node:child_process';

/**
 * Creates a folder that carries the process id in its name, and removes the folders that ended processes left behind
 * under the same prefix because they were killed.
 * @param prefix absolute path and start of the name
 */
export async function processFolder(prefix: string): Promise<string> {
  const parent = dirname(prefix);
  const start = `${basename(prefix)}-`;
  for (const name of await readdir(parent)) {
    const owner = name.startsWith(start) ? Number(name.slice(start.length).split('-')[0]) : Number.NaN;
    if (Number.isInteger(owner) && !isAlive(owner)) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
  return mkdtemp(`${prefix}-${process.pid}-`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ports handed out; below those that systems give to `listen(0)` and to outgoing connections. */
const FIRST_PORT = 10_000;
const PORTS = 10_000;
/** A port is reserved by whoever listens on its guard, as many ports above. */
const GUARD_DISTANCE = PORTS;
const ADDRESS = '127.0.0.1';

/**
 * A TCP port of 127.0.0.1 that is free and that no other call gives away, in any process of this machine, as long as
 * this process lives. The reservation is a listener on a second port, so the system ends it with the process.
 * @throws Error when every port is taken
 */
export async function freePort(): Promise<number> {
  const start = Math.floor(Math.random() * PORTS);
  for (let offset = 0; offset < PORTS; offset += 1) {
    const port = FIRST_PORT + ((start + offset) % PORTS);
    const guard = await listen(port + GUARD_DISTANCE);
    if (guard !== undefined) {
      const server = await listen(port);
      if (server !== undefined) {
        guard.unref();
        await close(server);
        return port;
      }
      await close(guard);
    }
  }
  throw new Error(`There is no free port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1}.`);
}

/** Whether something listens on a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** @returns undefined when the port cannot be had */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: ADDRESS, exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** One hook for all of them: Node takes many listeners of one event for a leak, and warns. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Lets a child process end with this one at the latest, also when this one ends by a failure. */
export function endsWithUs<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Lets the exit hooks run when a signal ends a command, with the customary exit status 128 + signal number. */
export function endWithSignals(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGHUP', () => process.exit(129));
}
