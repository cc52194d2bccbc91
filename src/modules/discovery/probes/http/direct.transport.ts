import type { Socket } from 'node:net';
import { Agent, request as send } from 'undici';
import { ProbeError } from '../../model/probe.error.js';
import type { ProbeContext, ProbeWarning } from '../../model/probe.js';
import { certificateWarnings } from '../net/certificate.js';
import { openSocket, type TlsTrust } from '../net/open-socket.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpRequest, HttpTransport } from './http-transport.js';

/** What the transport of one probe needs. */
export interface DirectTransportOptions {
  context: ProbeContext;
  trust: TlsTrust;
  maxBytes: number;
  /** Milliseconds since the epoch, for the rest of a certificate's life. */
  now: () => number;
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * HTTP to addresses that the operator named. A private agent has one connection to each origin. There are no redirects and no
 * compression, and no longer or larger answer than allowed.
 */
export class DirectTransport implements HttpTransport {
  private readonly agent: Agent;
  private readonly found = new Map<string, ProbeWarning>();

  constructor(private readonly options: DirectTransportOptions) {
    const { context } = options;
    this.agent = new Agent({
      connect: (target, callback) => this.connect(target, callback),
      connections: 1,
      pipelining: 1,
      headersTimeout: context.timeoutMs,
      bodyTimeout: context.timeoutMs,
    });
    context.onEnd(() => void this.agent.destroy().catch(() => undefined));
  }

  async send(url: URL, { method, headers, body, isComplete }: HttpRequest): Promise<HttpAnswer> {
    const { signal } = this.options.context;
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
      if (bytes > this.options.maxBytes) {
        throw new ProbeError('too_large');
      }
      chunks.push(chunk);
      if (isComplete(Buffer.concat(chunks).toString('utf8'))) {
        break;
      }
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  private connect(
    { hostname, port, protocol }: { hostname: string; port?: string | number; protocol?: string },
    callback: (...args: [null, Socket] | [Error, null]) => void,
  ): void {
    const { context, trust, now } = this.options;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const isTls = protocol === 'https:';
    const address = { host, port: Number(port || PORTS[protocol ?? '']) };
    const socket = openSocket(address, context, isTls ? trust : undefined);
    const settled = (): void => void socket.off('error', fail).off('close', onClose);
    const fail = (error: Error): void => {
      settled();
      callback(error, null);
    };
    // At the deadline the socket is destroyed without an error.
    const onClose = (): void => fail(closed());
    socket.on('error', fail).on('close', onClose);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      settled();
      certificateWarnings(socket, now()).forEach((warning) => this.found.set(warning.code, warning));
      callback(null, socket);
    });
  }
}

function closed(): Error {
  return Object.assign(new Error('closed'), { code: 'ECONNRESET' });
}
