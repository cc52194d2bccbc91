import { Injectable } from '@nestjs/common';
import type { ConnectionFailureCause } from '../../../mcp-connection/model/connection-failure.types.js';
import { McpConnectionService } from '../../../mcp-connection/mcp-connection.service.js';
import type { Component } from '../../model/component.types.js';
import { httpUrlOf } from '../http/probe-http.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { greetMcpServer, type McpGreeting } from '../http/mcp-greeting.js';
import { PROBE_FAILURES, ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';
import { capabilitiesOf, known, nameOf, versionOf } from '../net/self-description.js';

/** Causes of the connection module that have another name here; all others are the same or of the protocol. */
const FAILURES: Readonly<Partial<Record<ConnectionFailureCause, ProbeFailure>>> = {
  unauthorized: 'auth',
  invalid_client: 'auth',
  port: 'blocked',
  overloaded: 'internal',
  stopping: 'deadline',
};

/**
 * Looks at an MCP server: it is greeted, and no tool is listed or called. Option `authorizationRequired`: a
 * refusal for want of a token shows that the server works.
 */
@Injectable()
export class McpProbe implements Probe {
  readonly kind = 'mcp';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly connections: McpConnectionService,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    try {
      return await (component.trust === 'registered'
        ? this.guarded(component, context)
        : this.direct(component, context));
    } catch (error) {
      const isRefusal = error instanceof ProbeError && error.failure === 'auth';
      if (isRefusal && component.options.authorizationRequired === true) {
        return {};
      }
      throw error;
    }
  }

  private async guarded(component: Component, { timeoutMs }: ProbeContext): Promise<ProbeFinding> {
    const url = httpUrlOf(component.endpoint);
    const { query = {} } = component.options;
    Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
    const result = await this.connections.greet(url.href, timeoutMs);
    if (result.outcome !== 'connected') {
      throw new ProbeError(failureOf(result.cause));
    }
    const { name, title, version } = result.server;
    return findingOf({ name, title, version, capabilities: result.capabilities });
  }

  private async direct(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open(component, context);
    const greeting = await greetMcpServer(http);
    return { ...findingOf(greeting), warnings: http.warnings() };
  }
}

/** Many a name is that of a package, with characters that are not shown; the title does then. */
function findingOf({ name, title, version, capabilities }: McpGreeting): ProbeFinding {
  return {
    ...known('name', nameOf(name) ?? nameOf(title)),
    ...known('version', versionOf(version)),
    ...known('capabilities', capabilitiesOf(capabilities)),
  };
}

function failureOf(cause: ConnectionFailureCause): ProbeFailure {
  const named = FAILURES[cause];
  if (named !== undefined) {
    return named;
  }
  return cause in PROBE_FAILURES ? (cause as ProbeFailure) : 'protocol';
}
