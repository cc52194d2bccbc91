import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIPv6 } from 'node:net';
import type { buildConnector } from 'undici';

/** An agent for libraries that send requests by `node:http`. It keeps one connection open, from a guarded connector. */
export function guardedAgent(protocol: string, connect: buildConnector.connector): HttpAgent {
  const agent = new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = ({ host, port, servername }: ConnectionTarget, done) => {
    const name = isIPv6(host) ? `[${host}]` : host;
    const target = { protocol, hostname: host, host: `${name}:${port}`, port: String(port) };
    connect({ ...target, ...(servername ? { servername } : {}) }, (error, socket) =>
      done?.(error, socket as never),
    );
    return undefined;
  };
  return agent;
}

interface ConnectionTarget {
  host: string;
  port: number;
  servername?: string;
}
