import { Agent, buildConnector } from 'undici';

import type { AddressPolicy } from './address-policy.js';
import { boundedResolver } from './bounded-resolver.js';
import { guardedLookup, type Resolver, systemResolver } from './guarded-lookup.js';
import type { HeavySeats } from './heavy-seats.js';
import { KeptSockets } from './kept-sockets.js';
import { OutboundOperation, type OperationLimits } from './outbound.operation.js';

/** What all operations of one client share. */
export interface OutboundClientOptions {
  policy: AddressPolicy;
  /** Same-origin redirects followed per request. */
  maxRedirects: number;
  /** Milliseconds to open a connection, TLS included. */
  connectTimeoutMs: number;
  /** Bounds the memory of large answers across operations; without it every operation may read up to its limit. */
  seats?: HeavySeats;
  /** @default the resolver of the operating system, two lookups at once */
  resolver?: Resolver;
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
   * @param sockets kept open for the next operation, see {@link keepSockets}. @default sockets of its own
   */
  open(limits: OperationLimits, sockets?: KeptSockets): OutboundOperation {
    return sockets === undefined
      ? new OutboundOperation(this.options, limits, new KeptSockets(this.createAgent()), 'closes sockets')
      : new OutboundOperation(this.options, limits, sockets, 'leaves sockets');
  }

  /** Sockets that operations leave to those after them, to spare the handshakes. The caller closes them. */
  keepSockets(): KeptSockets {
    return new KeptSockets(this.createAgent());
  }

  /** Runs `work` in an operation of its own and closes it, sockets included, whatever happens. */
  async run<T>(limits: OperationLimits, work: (operation: OutboundOperation) => Promise<T>): Promise<T> {
    const operation = this.open(limits);
    try {
      return await work(operation);
    } finally {
      await operation.close();
    }
  }

  /** Destroying an agent closes every socket of it, also those a library forgot. */
  private createAgent(): Agent {
    return new Agent({
      connect: (target, callback) => {
        const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
        const { policy, connectTimeoutMs } = this.options;
        try {
          policy.checkUrl(new URL(`${target.protocol}//${target.host ?? target.hostname}`));
        } catch (error) {
          callback(error as Error, null);
          return;
        }
        buildConnector({
          lookup: guardedLookup(policy, this.resolver, port),
          timeout: connectTimeoutMs,
          allowH2: false,
        })(target, callback);
      },
      // The deadline of the operation is the one clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
  }
}
