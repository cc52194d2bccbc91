import type { ConnectionFailureCause } from '../../../systems/mcp-connection/model/connection-failure.types.js';
import type { Component } from '../../model/component.types.js';
import { httpUrlOf } from '../http/probe-http.js';
import type { ProbeClients, ProbeOfKind } from '../http/probe-clients.js';
import { greetMcpServer, type McpGreeting } from '../http/mcp-greeting.js';
import { PROBE_FAILURES, ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';
import { capabilitiesOf, nameOf, versionOf } from '../net/self-description.js';

/** Causes of the connection module with a different name here. Others have the same name, or become `protocol`. */
const FAILURES: Readonly<Partial<Record<ConnectionFailureCause, ProbeFailure>>> = {
  unauthorized: 'auth',
  invalid_client: 'auth',
  port: 'blocked',
  overloaded: 'internal',
  stopping: 'deadline',
};

/**
 * Checks an MCP server by initializing it, without listing or calling tools. Option `authorizationRequired`: a rejection for lack of a
 * token also shows that the server works.
 */
export const probeMcp: ProbeOfKind = async (component, context, clients) => {
  try {
    return findingOf(
      component.trust === 'registered'
        ? await guarded(component, context, clients)
        : await greetMcpServer(clients.open(component, context)),
    );
  } catch (error) {
    const isRefusal = error instanceof ProbeError && error.failure === 'auth';
    if (isRefusal && component.options.authorizationRequired === true) {
      return {};
    }
    throw error;
  }
};

async function guarded(
  component: Component,
  { timeoutMs }: ProbeContext,
  { connections }: ProbeClients,
): Promise<McpGreeting> {
  const url = httpUrlOf(component.endpoint);
  const { query = {} } = component.options;
  Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
  const result = await connections.greet(url.href, timeoutMs);
  if (result.outcome !== 'connected') {
    throw new ProbeError(failureOf(result.cause));
  }
  return { ...result.server, capabilities: result.capabilities };
}

/** Converts the response. Names of packages often contain characters that are not shown; the title is used then. */
function findingOf({ name, title, version, capabilities }: McpGreeting): ProbeFinding {
  return {
    name: nameOf(name) ?? nameOf(title),
    version: versionOf(version),
    capabilities: capabilitiesOf(capabilities),
  };
}

function failureOf(cause: ConnectionFailureCause): ProbeFailure {
  const named = FAILURES[cause];
  if (named !== undefined) {
    return named;
  }
  return cause in PROBE_FAILURES ? (cause as ProbeFailure) : 'protocol';
}
