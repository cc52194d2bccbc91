import { createServer, type Server } from 'node:net';

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
