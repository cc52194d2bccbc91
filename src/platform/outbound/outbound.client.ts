import type { Agent as HttpAgent } from 'node:http';
import { Agent, type buildConnector } from 'undici';

import type { AddressPolicy } from './address-policy.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import { boundedResolver, type Resolver, systemResolver } from './guarded-lookup.js';
import { guardedAgent, guardedConnector } from './guarded-connector.js';
import type { Bulkhead } from '../concurrency/bulkhead.js';
import { KeptSockets } from './dial.js';
import type { FarConnections } from './outbound.types.js';
import type { OutboundProxy } from './outbound-proxy.js';
import { OutboundOperation, type OperationLimits } from './outbound.operation.js';

/** What all operations of one client share. */
export interface OutboundClientOptions {
  policy: AddressPolicy;
  /** Same-origin redirects followed per request. */
  maxRedirects: number;
  /** Milliseconds to open a connection, TLS included. */
  connectTimeoutMs: number;
  /** Limits how many operations hold a large answer at the same time. @default every operation may read up to its limit */
  largeAnswers?: Bulkhead;
  /** @default the resolver of the operating system, two lookups at once */
  resolver?: Resolver;
  /** The way of all connections but those that it leaves out. @default directly */
  proxy?: OutboundProxy;
  /** Where connections over TLS are opened. @default in this thread */
  far?: FarConnections;
}

/** Half of libuv's threads: the other half stays free whatever name servers do. */
const LOOKUPS = 2;

/** The one way out of the service: opens guarded operations. One instance serves everybody. */
export class OutboundClient {
  private readonly resolver: Resolver;

  constructor(private readonly options: OutboundClientOptions) {
    this.resolver = options.resolver ?? boundedResolver(systemResolver, LOOKUPS, options.connectTimeoutMs);
  }

  /**
   * Opens an operation: one or more calls that share a deadline, a byte limit and sockets. The caller closes it.
   * @param sockets kept open for the next operation, see {@link keepSockets}
   */
  open(limits: OperationLimits, sockets: KeptSockets): OutboundOperation {
    return new OutboundOperation(this.options, limits, sockets, 'leaves sockets');
  }

  /** As `open`, with sockets of its own, the certificates of the party that is called and the egress rules of its application. */
  openWith(limits: OperationLimits, tls: TlsMaterial | undefined): OutboundOperation {
    return new OutboundOperation(this.options, limits, this.keepSockets(tls), 'closes sockets');
  }

  /** Sockets that operations leave to those after them, to spare the handshakes. The caller closes them. */
  keepSockets(tls?: TlsMaterial): KeptSockets {
    const opening = new AbortController();
    const agent = new Agent({
      connect: this.connector(tls, opening.signal),
      // The deadline of the operation is the one clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    return new KeptSockets(agent, tls, opening, this.options.far);
  }

  /** Runs `work` in an operation of its own and closes it, sockets included, whatever happens. */
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

  /** An agent for a library that sends requests by `node:http`: the egress rules hold, the limits of operations do not. */
  agentFor(protocol: string, tls?: TlsMaterial): HttpAgent {
    return guardedAgent(protocol, this.connector(tls, new AbortController().signal));
  }

  private connector(tls: TlsMaterial | undefined, ends: AbortSignal): buildConnector.connector {
    const { connectTimeoutMs, proxy } = this.options;
    const policy = this.options.policy.of(tls?.app);
    return guardedConnector({ policy, resolver: this.resolver, connectTimeoutMs, proxy, tls, ends });
  }
}
