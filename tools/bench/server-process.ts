import { fork, type ChildProcess } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A baseline server in a separate process. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** Sends an order and resolves with the server's next message. */
  ask(order: object): Promise<unknown>;
  stop(): void;
}

/** Starts one of `tools/bench/servers` and waits until it reports its address. */
export async function startServer(name: string, env: Record<string, string>): Promise<ServerProcess> {
  const child: ChildProcess = fork(fileURLToPath(new URL(`./servers/${name}.process.ts`, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
  });
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    child.once('message', (message) => resolve(message as AddressInfo));
    child.once('exit', (code) => reject(new Error(`${name} exited with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    pid: child.pid ?? 0,
    ask: (order) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send(order);
      }),
    stop: () => child.kill('SIGKILL'),
  };
}
