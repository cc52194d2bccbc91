import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverSample } from '../../../src/evaluation/sample-application.js';
import type { InstanceResponseDto } from '../../../src/modules/process-runtime/reading/instance.response.dto.js';
import type { ProcessPageDto } from '../../../src/modules/process-runtime/starts/startable-process.dto.js';
import { buildOpenApi } from '../../../src/openapi.js';
import { TestApp } from '../../support/app.js';
import { dereferenced } from '../../support/dereferenced.js';
import { execute, instancePath, start, type StartBody } from '../../support/runtime/runtime-client.js';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; schema: { example?: string } }[];
  requestBody?: { content: Record<string, { examples: Record<string, { value: unknown }> }> };
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>;
}

let app: TestApp;
let document: OpenAPIObject;

beforeAll(async () => {
  app = await TestApp.start({ JOBS_WORKERS: 'false' });
  document = dereferenced(buildOpenApi(app.nest));
  await deliverSample(app.nest, 'sample');
});
afterAll(() => app.close());

function operation(id: string): Operation {
  const operations = Object.values(document.paths).flatMap(
    (path) => Object.values(path) as unknown as Operation[],
  );
  return operations.find(({ operationId }) => operationId === id)!;
}

/** The examples of the parameters of a path: what /docs fills in. */
function pathOf(id: string): Record<string, string | undefined> {
  const parameters = (operation(id).parameters ?? []).filter((parameter) => parameter.in === 'path');
  return Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.example]));
}

/** The example of a body: the first one is what /docs fills in. */
function bodyOf(id: string): unknown {
  const { examples = {} } = operation(id).requestBody?.content['application/json'] ?? {};
  return Object.values(examples)[0]?.value;
}

function answerOf(id: string): unknown {
  return operation(id).responses['200']?.content?.['application/json']?.example;
}

describe('what the OpenAPI document shows of endpoints 7 and 8', () => {
  it('runs the process of the sample, with the id of the active build', async () => {
    const { appId = '', processDefinitionName = '' } = pathOf('startProcess');
    const info = await app.request<{ buildId: string }>('GET', `/rtm/api/runtime/app/${appId}/build/info`);
    const build = { appId, buildId: info.body.buildId };
    const { body: page } = await app.request<ProcessPageDto>(
      'GET',
      `/rtm/api/runtime/app/${appId}/build/${build.buildId}/processes`,
    );
    expect(page.processes).toEqual((answerOf('listProcesses') as ProcessPageDto).processes.slice(0, 1));

    const started = await start(app, build, processDefinitionName, bodyOf('startProcess'));
    expect(started.status).toBe(200);
    const shown = answerOf('startProcess') as StartBody;
    expect(started.body['processDefinitionSvcUuid']).toBe(shown['processDefinitionSvcUuid']);
    const [token] = started.body.tokens;
    expect(token?.currentNodeName).toBe(shown.tokens[0]?.currentNodeName);

    const { body: instance } = await app.request<InstanceResponseDto>('GET', instancePath(started.body.uuid));
    const { uiActions } = (answerOf('getProcessInstance') as InstanceResponseDto).tokens[0]!;
    expect(instance.tokens[0]?.uiActions).toEqual(uiActions);
    const { uiActionSvcUuid = '' } = pathOf('executeUiAction');
    expect(uiActionSvcUuid).toBe(uiActions[0]?.svcUuid);
    const body = bodyOf('executeUiAction');
    const executed = await execute(app, instance.uuid, token?.uuid ?? '', uiActionSvcUuid, body);
    expect(executed.status).toBe(200);
  });

  it('names one build, one instance and one token by one id each', () => {
    const { buildId, uuid, tokens } = answerOf('startProcess') as StartBody;
    for (const id of ['startProcess', 'listProcesses', 'getBuild', 'getBuildBpmn']) {
      expect([id, pathOf(id)['buildId']]).toEqual([id, buildId]);
    }
    expect((answerOf('getBuildInfo') as { buildId: string }).buildId).toBe(buildId);
    expect(pathOf('getProcessInstance')['uuid']).toBe(uuid);
    expect(pathOf('executeUiAction')).toMatchObject({ processUuid: uuid, tokenUuid: tokens[0]?.uuid });
  });

  it('says of each id where it comes from', () => {
    const described = (id: string): string => JSON.stringify(operation(id));
    expect(described('startProcess')).toContain('`listProcesses`');
    expect(described('startProcess')).toContain('`getBuildInfo`');
    expect(described('executeUiAction')).toContain('`getProcessInstance`');
    expect(described('executeUiAction')).toContain('`bodySchema`');
  });
});
