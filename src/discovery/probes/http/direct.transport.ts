import type { Socket } from 'node:net';
import { Agent, request as send } from 'undici';
import { discoveryLimits } from '../../discovery.limits.js';
import { ProbeError } from '../../model/failures.js';
import type { ProbeContext } from '../../model/probe.js';
import { connected, openSocket, type TlsTrust } from '../net/open-socket.js';
import { HttpAnswer, type SendHttp } from './probe-http.js';

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Sends HTTP requests to addresses of the operator: one connection per origin, no redirects, no compression. */
export function sendDirectly(context: ProbeContext, trust: TlsTrust): SendHttp {
  const { signal, timeoutMs } = context;
  const dispatcher = new Agent({
    connect: (target, callback) => void connect(target, callback, { context, trust }),
    connections: 1,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  context.onEnd(() => void dispatcher.destroy().catch(() => undefined));
  return async (url, { isComplete, ...request }) => {
    const response = await send(url, { dispatcher, signal, ...request });
    const encoding = response.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      response.body.on('error', () => undefined).destroy();
      throw new ProbeError('protocol');
    }
    const text = await read(response.body, isComplete);
    const entries = Object.entries(response.headers).map(([name, value]) => [name, [value].flat()[0]]);
    return new HttpAnswer(response.statusCode, Object.fromEntries(entries), text);
  };
}

async function read(
  body: AsyncIterable<Uint8Array>,
  isComplete: (text: string) => boolean = () => false,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > discoveryLimits.answerBytes) {
      throw new ProbeError('too_large');
    }
    chunks.push(chunk);
    if (isComplete(Buffer.concat(chunks).toString('utf8'))) {
      break;
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function connect(
  { hostname, port, protocol = '' }: { hostname: string; port?: string | number; protocol?: string },
  callback: (...args: [null, Socket] | [Error, null]) => void,
  { context, trust }: { context: ProbeContext; trust: TlsTrust },
): Promise<void> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const address = { host, port: Number(port || PORTS[protocol]) };
  let socket: Socket;
  try {
    socket = openSocket(address, context, protocol === 'https:' ? trust : undefined);
    await connected(socket);
  } catch (error) {
    callback(error as Error, null);
    return;
  }
  callback(null, socket);
}
