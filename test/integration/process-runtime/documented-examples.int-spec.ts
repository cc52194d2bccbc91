import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverSample } from '../../../src/evaluation/sample-application.js';
import type { InstanceResponseDto } from '../../../src/runtime/reading/instance.response.dto.js';
import type { ProcessPageDto } from '../../../src/runtime/starts/startable-process.dto.js';
import { buildOpenApi } from '../../../src/openapi.js';
import { TestApp } from '../../support/app.js';
import { dereferenced } from '../../support/openapi-contract.js';
import {
  execute,
  instancePath,
  start,
  started,
  type StartBody,
} from '../../support/runtime/runtime-client.js';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; schema: { example?: string } }[];
  requestBody?: { content: Record<string, { examples: Record<string, { value: unknown }> }> };
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>;
}

let app: TestApp;
let document: OpenAPIObject;

beforeAll(async () => {
  app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
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

/** Returns the examples of path parameters, which /docs prefills. */
function pathOf(id: string): Record<string, string | undefined> {
  const parameters = (operation(id).parameters ?? []).filter((parameter) => parameter.in === 'path');
  return Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.example]));
}

/** Returns the first example of a body, which /docs prefills. */
function bodyOf(id: string): unknown {
  const { examples = {} } = operation(id).requestBody?.content['application/json'] ?? {};
  return Object.values(examples)[0]?.value;
}

function answerOf(id: string): unknown {
  return operation(id).responses['200']?.content?.['application/json']?.example;
}

async function activeBuild(appId: string): Promise<{ appId: string; buildId: string }> {
  const { body } = await app.request<{ buildId: string }>('GET', `/rtm/api/runtime/app/${appId}/build/info`);
  return { appId, buildId: body.buildId };
}

/** Runs an example of a document with the globals that it uses. */
async function run(example: string, given: Record<string, unknown>): Promise<void> {
  await (runInNewContext(`(async () => {${example}})()`, { setTimeout, ...given }) as Promise<void>);
}

describe('OpenAPI examples of endpoints 7 and 8', () => {
  it('run the process of the sample, with the id of the active build', async () => {
    const { appId = '', processDefinitionName = '' } = pathOf('startProcess');
    const build = await activeBuild(appId);
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

  it('use the same ids of a build, an instance and a token', () => {
    const { buildId, uuid, tokens } = answerOf('startProcess') as StartBody;
    for (const id of ['startProcess', 'listProcesses', 'getBuild', 'getBuildBpmn']) {
      expect([id, pathOf(id)['buildId']]).toEqual([id, buildId]);
    }
    expect((answerOf('getBuildInfo') as { buildId: string }).buildId).toBe(buildId);
    expect(pathOf('getProcessInstance')['uuid']).toBe(uuid);
    expect(pathOf('executeUiAction')).toMatchObject({ processUuid: uuid, tokenUuid: tokens[0]?.uuid });
  });

  it('have descriptions that name the source of each id', () => {
    const described = (id: string): string => JSON.stringify(operation(id));
    expect(described('startProcess')).toContain('`listProcesses`');
    expect(described('startProcess')).toContain('`getBuildInfo`');
    expect(described('executeUiAction')).toContain('`getProcessInstance`');
    expect(described('executeUiAction')).toContain('`bodySchema`');
  });
});

describe('the example of following an instance in docs/process-semantics.md', () => {
  const [, chapter = ''] = readFileSync('docs/process-semantics.md', 'utf8').split(
    '### Following an instance',
  );
  const [, example = ''] = /```js\n([^]*?)```/.exec(chapter) ?? [];

  it('receives every event once, and ends with the instance', async () => {
    const body = bodyOf('startProcess');
    const { uuid } = await started(app, await activeBuild('sample'), 'loan_onboarding', body);
    const received: [event: string, data: Record<string, unknown>][] = [];
    const asked: unknown[] = [];
    await run(example, {
      base: app.url,
      token: await app.tokenWith({ scope: 'openid process:read' }),
      uuid,
      TextDecoderStream,
      fetch: (address: string, init: { headers: Record<string, string> }) => {
        asked.push(init.headers['last-event-id']);
        return fetch(address, init);
      },
      show: (event: string, data: Record<string, unknown>) => {
        if (received.length === 0) {
          void app.request('POST', `${instancePath(uuid)}/terminate`);
        }
        received.push([event, data]);
      },
    });

    expect(received[0]).toMatchObject(['instance', { uuid, state: 'STARTED' }]);
    expect(received.at(-1)?.[0]).toBe('end');
    const numbers = received.flatMap(([event, { seq }]) => (event === 'history' ? [seq] : []));
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).toEqual(Array.from(numbers, (_, index) => Number(numbers[0]) + index));
    expect(asked).toHaveLength(2);
    expect(asked[0]).toBeUndefined();
    expect(asked[1]).toBe(String(numbers.at(-1)));
  });
});
