import type { Socket } from 'node:net';
import { Agent, request as send } from 'undici';
import { discoveryLimits } from '../../discovery.limits.js';
import { ProbeError } from '../../model/failures.js';
import type { ProbeContext, ProbeWarning } from '../../model/probe.js';
import { certificateWarnings } from '../net/warnings.js';
import { connected, openSocket, type TlsTrust } from '../net/open-socket.js';
import { HttpAnswer, type HttpRequest, type HttpTransport } from './http-transport.js';

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** HTTP to addresses of the operator: one connection to each origin, no redirects, no compression. */
export class DirectTransport implements HttpTransport {
  private readonly agent: Agent;
  private readonly found = new Map<string, ProbeWarning>();

  /** @param now milliseconds since the epoch, for the rest of a certificate's life */
  constructor(
    private readonly context: ProbeContext,
    private readonly trust: TlsTrust,
    private readonly now: () => number,
  ) {
    this.agent = new Agent({
      connect: (target, callback) => void this.connect(target, callback),
      connections: 1,
      pipelining: 1,
      headersTimeout: context.timeoutMs,
      bodyTimeout: context.timeoutMs,
    });
    context.onEnd(() => void this.agent.destroy().catch(() => undefined));
  }

  async send(url: URL, { method, headers, body, isComplete }: HttpRequest): Promise<HttpAnswer> {
    const { signal } = this.context;
    const response = await send(url, {
      dispatcher: this.agent,
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const encoding = response.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      response.body.on('error', () => undefined).destroy();
      throw new ProbeError('protocol');
    }
    const text = await this.read(response.body, isComplete);
    const entries = Object.entries(response.headers).map(([name, value]) => [name, [value].flat()[0]]);
    return new HttpAnswer(response.statusCode, Object.fromEntries(entries), text);
  }

  warnings(): ProbeWarning[] {
    return [...this.found.values()];
  }

  private async read(
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

  private async connect(
    { hostname, port, protocol }: { hostname: string; port?: string | number; protocol?: string },
    callback: (...args: [null, Socket] | [Error, null]) => void,
  ): Promise<void> {
    const isTls = protocol === 'https:';
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const address = { host, port: Number(port || PORTS[protocol ?? '']) };
    let socket: Socket;
    try {
      socket = openSocket(address, this.context, isTls ? this.trust : undefined);
      await connected(socket, isTls ? 'secureConnect' : 'connect');
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    certificateWarnings(socket, this.now()).forEach((warning) => this.found.set(warning.code, warning));
    callback(null, socket);
  }
}
