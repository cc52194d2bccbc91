import { Injectable, Optional } from '@nestjs/common';
import { configuredOutbound, outboundClient } from '../../../platform/outbound/configured-outbound.js';
import type { OutboundClient } from '../../../platform/outbound/outbound.client.js';
import { DialThread } from '../../../platform/outbound/thread/dial-thread.js';
import { Env } from '../../../platform/config/env.js';
import { McpConnectionService } from '../../../systems/mcp-connection/mcp-connection.service.js';
import type { Component } from '../../model/component.types.js';
import { tlsTrustOf } from '../net/open-socket.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';
import { sendDirectly } from './direct.transport.js';
import { HttpAnswer, httpUrlOf, ProbeHttp, type SendHttp } from './probe-http.js';
import { discoveryLimits } from '../../discovery.limits.js';

/** Maximum total size of the responses of a probe, in multiples of `answerBytes`. */
const MAX_ANSWERS = 64;

/** Creates the HTTP clients of probes: direct ones for components of the operator, guarded ones for all others. */
@Injectable()
export class ProbeClients {
  private readonly outbound: OutboundClient;

  /** @throws EnvError at startup when `EGRESS_ALLOW` is invalid */
  constructor(
    env: Env,
    readonly connections: McpConnectionService,
    @Optional() thread?: DialThread,
  ) {
    this.outbound = outboundClient({ ...configuredOutbound(env), maxRedirects: 0 }, { thread });
  }

  /** @throws ProbeError `configuration` when the endpoint is not an HTTP URL */
  open(component: Component, context: ProbeContext): ProbeHttp {
    const base = httpUrlOf(component.endpoint);
    const send =
      component.trust === 'operator'
        ? sendDirectly(context, tlsTrustOf(component))
        : this.guarded(component, context);
    return new ProbeHttp(base, component, context, send);
  }

  /**
   * Sends requests to addresses registered by callers of the API through the guarded client, which checks each address and presents no
   * client certificate.
   */
  private guarded(component: Component, { signal, timeoutMs, onEnd }: ProbeContext): SendHttp {
    const limits = {
      deadlineMs: timeoutMs,
      maxResponseBytes: discoveryLimits.answerBytes,
      maxTotalBytes: discoveryLimits.answerBytes * MAX_ANSWERS,
    };
    // A component of several applications is probed under the common rules, so that none learns what only another one may call.
    const [app, ...others] = component.apps ?? [];
    const owner = app === undefined || others.length > 0 ? undefined : { app };
    const operation = this.outbound.openWith(limits, owner);
    const close = (): void => void operation.close().catch(() => undefined);
    onEnd(close);
    signal.addEventListener('abort', close, { once: true });
    return async (url, request) => {
      const response = await operation.fetch(url, { ...request });
      return new HttpAnswer(response.status, Object.fromEntries(response.headers), await response.text());
    };
  }
}

/** A `Probe` that receives its clients. */
export type ProbeOfKind = (
  component: Component,
  context: ProbeContext,
  clients: ProbeClients,
) => Promise<ProbeFinding>;
