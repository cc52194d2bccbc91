import type { Agent as HttpAgent } from 'node:http';
import { Agent, type buildConnector } from 'undici';

import type { AddressPolicy } from './address-policy.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import { boundedResolver, type Resolver, systemResolver } from './guarded-lookup.js';
import { guardedAgent, guardedConnector } from './guarded-connector.js';
import type { Bulkhead } from '../concurrency/bulkhead.js';
import { KeptSockets } from './dial.js';
import type { ThreadDialer } from './outbound.types.js';
import type { OutboundProxy } from './outbound-proxy.js';
import { OutboundOperation, type OperationLimits } from './outbound.operation.js';

/** Settings that all operations of a client share. */
export interface OutboundClientOptions {
  policy: AddressPolicy;
  /** Same-origin redirects followed per request. */
  maxRedirects: number;
  /** Milliseconds to open a connection, including TLS. */
  connectTimeoutMs: number;
  /** Limits how many operations read a large response concurrently. @default no limit */
  largeAnswers?: Bulkhead;
  /** @default the resolver of the operating system, with two concurrent lookups */
  resolver?: Resolver;
  /** @default connections are direct */
  proxy?: OutboundProxy;
  /** Opens TLS connections in another thread. @default in this thread */
  tlsDialer?: ThreadDialer;
}

/** Half of libuv's threads, so that slow name servers cannot block the other half. */
const LOOKUPS = 2;

/** Opens guarded operations, through which the service makes all its outbound calls. */
export class OutboundClient {
  private readonly resolver: Resolver;

  constructor(private readonly options: OutboundClientOptions) {
    this.resolver = options.resolver ?? boundedResolver(systemResolver, LOOKUPS, options.connectTimeoutMs);
  }

  /**
   * Opens an operation: one or more calls that share a deadline, a byte limit and sockets. The caller must close it.
   * @param sockets stay open for the next operation, see {@link keepSockets}
   */
  open(limits: OperationLimits, sockets: KeptSockets): OutboundOperation {
    return new OutboundOperation(this.options, limits, sockets, 'leaves sockets');
  }

  /** As `open`, with its own sockets, the certificates of the called party and the egress rules of its application. */
  openWith(limits: OperationLimits, tls: TlsMaterial | undefined): OutboundOperation {
    return new OutboundOperation(this.options, limits, this.keepSockets(tls), 'closes sockets');
  }

  /** Creates sockets that operations reuse, which saves handshakes. The caller must close them. */
  keepSockets(tls?: TlsMaterial): KeptSockets {
    const opening = new AbortController();
    const agent = new Agent({
      connect: this.connector(tls, opening.signal),
      // The deadline of the operation is the only timeout.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    return new KeptSockets(agent, tls, opening, this.options.tlsDialer);
  }

  /** Runs `work` in a new operation, and always closes it together with its sockets. */
  async run<T>(
    limits: OperationLimits,
    work: (operation: OutboundOperation) => Promise<T>,
    tls?: TlsMaterial,
  ): Promise<T> {
    const operation = this.openWith(limits, tls);
    try {
      return await work(operation);
    } finally {
      await operation.close();
    }
  }

  /** Creates an agent for a library that uses `node:http`. The egress rules apply, the limits of operations do not. */
  agentFor(protocol: string, tls?: TlsMaterial): HttpAgent {
    return guardedAgent(protocol, this.connector(tls, new AbortController().signal));
  }

  private connector(tls: TlsMaterial | undefined, ends: AbortSignal): buildConnector.connector {
    const { connectTimeoutMs, proxy } = this.options;
    const policy = this.options.policy.forApp(tls?.app);
    return guardedConnector({ policy, resolver: this.resolver, connectTimeoutMs, proxy, tls, ends });
  }
}
