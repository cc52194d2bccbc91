import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { connect, createServer, type Server } from 'node:net';
import type { ChildProcess } from 'node:child_process';

/**
 * Creates a folder whose name contains the process id. Removes folders with the same prefix that were left behind by
 * killed processes.
 * @param prefix absolute path, including the start of the name
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

/** Range of the ports to hand out. It lies below the ephemeral ports of the operating system. */
const FIRST_PORT = 10_000;
const PORTS = 10_000;
/** Each port has a guard port at this distance. Listening on the guard reserves the port. */
const GUARD_DISTANCE = PORTS;
const ADDRESS = '127.0.0.1';

/**
 * Reserves a free TCP port of 127.0.0.1 for the lifetime of this process. No other call returns the same port, not even
 * in another process of this machine: a listener on a second port holds the reservation, and the operating system
 * releases it when the process exits.
 * @throws Error when all ports are in use
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

/** Reports whether something listens on a port of 127.0.0.1. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** @returns undefined when the port is in use */
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

/** All running child processes. They share one exit hook, because Node reports many listeners as a leak. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Kills a child process when this process exits, even after a failure. */
export function killOnExit<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Exits normally on SIGINT, SIGTERM and SIGHUP, so that exit hooks run. The exit status is 128 + signal number. */
export function exitOnSignals(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGHUP', () => process.exit(129));
}
