import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import { configuredOutbound, outboundClient } from '../../../../common/outbound/configured-outbound.js';
import type { OutboundClient } from '../../../../common/outbound/outbound.client.js';
import { DialThread } from '../../../../common/outbound/thread/dial-thread.js';
import { Env } from '../../../../config/env.js';
import type { Component } from '../../model/component.types.js';
import { tlsTrustOf } from '../net/open-socket.js';
import type { ProbeContext } from '../../model/probe.js';
import { DirectTransport } from './direct.transport.js';
import { GuardedTransport } from './guarded.transport.js';
import type { HttpTransport } from './http-transport.js';
import { httpUrlOf, ProbeHttp } from './probe-http.js';
import { discoveryLimits } from '../../discovery.limits.js';

/** Answers of one probe together, in answers of the largest size. */
const MAX_ANSWERS = 64;

/** Opens the HTTP conversations of probes: directly for components of the operator, guarded for all others. */
@Injectable()
export class ProbeHttpClient {
  private readonly outbound: OutboundClient;
  private readonly maxBytes: number;

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(
    env: Env,
    private readonly clock: Clock,
    @Optional() thread?: DialThread,
  ) {
    this.maxBytes = discoveryLimits.answerBytes;
    this.outbound = outboundClient({ ...configuredOutbound(env), maxRedirects: 0 }, { thread });
  }

  /**
   * @param address where requests go, when it is not the component's endpoint
   * @throws ProbeError `configuration` when the address is not one of HTTP
   */
  open(component: Component, context: ProbeContext, address = component.endpoint): ProbeHttp {
    const base = httpUrlOf(address);
    const now = (): number => this.clock.now().getTime();
    const transport = this.transport(component, context, now);
    return new ProbeHttp({ component, base, context, transport, now });
  }

  private transport(component: Component, context: ProbeContext, now: () => number): HttpTransport {
    if (component.trust === 'operator') {
      const trust = tlsTrustOf(component);
      return new DirectTransport({ context, trust, maxBytes: this.maxBytes, now });
    }
    const limits = {
      deadlineMs: context.timeoutMs,
      maxResponseBytes: this.maxBytes,
      maxTotalBytes: this.maxBytes * MAX_ANSWERS,
    };
    // What several applications have registered is probed by the rules for all: neither learns what only the other may call.
    const [app, ...others] = component.apps ?? [];
    const owner = app === undefined || others.length > 0 ? undefined : { app };
    const operation = this.outbound.openWith(limits, owner);
    context.onEnd(() => void operation.close().catch(() => undefined));
    context.signal.addEventListener('abort', () => void operation.close().catch(() => undefined), {
      once: true,
    });
    return new GuardedTransport(operation);
  }
}
