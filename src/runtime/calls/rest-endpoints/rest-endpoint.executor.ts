import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isJsonObject, type JsonValue } from '#engine/json';
import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { BuildSystemsService } from '../../../delivery/builds/contents/build-systems.service.js';
import {
  SystemConnectionsService,
  type OpenedConnection,
} from '../../../systems/lookups/system-connections.service.js';
import { SystemType } from '../../../systems/model/system.types.js';
import { CallKind } from '../workflows/model/call-journal.types.js';
import type { NodeContext, NodeExecutor, NodeOutcome, RunScope } from '../workflows/model/node-executor.js';
import { NodeExecutorsService } from '../workflows/runs/node-executors.service.js';
import type { RunnableNode } from '../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';
import { isIdempotent, RestCallerService, RestFailure } from './rest-caller.service.js';
import { restRequest, type RestRequest } from './rest-request.js';
import { restLimits } from './rest.limits.js';

/** Calls an endpoint of a REST system of the build (docs/process-semantics.md, section 13). */
@Injectable()
export class RestEndpointExecutor implements NodeExecutor, OnModuleInit {
  readonly type = 'REST_ENDPOINT';
  readonly takesInput = true;

  constructor(
    private readonly executors: NodeExecutorsService,
    private readonly builds: BuildSystemsService,
    private readonly connections: SystemConnectionsService,
    private readonly caller: RestCallerService,
  ) {}

  onModuleInit(): void {
    this.executors.register(this);
  }

  async execute(node: RunnableNode, context: NodeContext): Promise<NodeOutcome> {
    const { scope, step } = context;
    const connection = await this.connectionOf(node, scope);
    const request = await restRequest(node, connection.baseUrl, context, restLimits.timeoutMs);
    const { result } = await scope.calls.once(
      {
        key: `${step}/${node.id}/rest`,
        kind: CallKind.Rest,
        request: shown(request),
        repeatable: isIdempotent(request.method),
      },
      async () => {
        const answer = await this.answer(request, connection, scope);
        return { result: answer, outcome: 'OK' };
      },
    );
    return { result, next: { kind: 'SEQUENCE' } };
  }

  private async answer(
    request: RestRequest,
    connection: OpenedConnection,
    { signal }: RunScope,
  ): Promise<JsonValue> {
    try {
      return await this.caller.call(request, connection, signal);
    } catch (error) {
      throw error instanceof RestFailure ? error.toJournal() : error;
    }
  }

  /** @throws WorkflowFailedError when the build has no such REST system */
  private async connectionOf(node: RunnableNode, scope: RunScope): Promise<OpenedConnection> {
    const named = node.payload?.['system'];
    const { appId, resourceDefinitionId, resourceName } = isJsonObject(named) ? named : {};
    const reference = {
      appId: textOr(appId, scope.appId),
      resourceDefinitionId: textOr(resourceDefinitionId, null),
      resourceName: textOr(resourceName, null),
    };
    const system = await this.builds.find(scope.buildId, reference, SystemType.Rest);
    const connection = system === null ? null : await this.connections.byId(system.systemId);
    if (connection === null) {
      throw new WorkflowFailedError(
        'REST_SYSTEM_MISSING',
        'The REST system of the node is not in the build.',
      );
    }
    return connection;
  }
}

/** Returns the request as shown to readers of the run, without values of query and headers and without credentials. */
function shown({ method, url, headers, body, credentials }: RestRequest): JsonValue {
  return new SecretRemoval(credentials).json({
    method,
    url: `${url.origin}${url.pathname}`,
    queryParameters: [...url.searchParams.keys()],
    headers: Object.keys(headers),
    body,
  });
}

function textOr(value: unknown, otherwise: string | null): string | null {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
