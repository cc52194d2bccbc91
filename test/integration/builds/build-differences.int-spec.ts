import type { Logger } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, taskProcess, userTask } from '../../support/runtime/process-files.js';
import { appPath, packageDocument, publish, workflowOf } from '../../support/runtime/publish.js';
import { start } from '../../support/runtime/runtime-client.js';
import { insertTools } from '../systems/rows.js';
import { activate, build, commit, emptyWorkflow, store, systemRows } from './rows.js';
import { agentNode } from './workflow-nodes.js';

interface Difference {
  part: string;
  change: string;
  applicationId: string;
  within: string | null;
  name: string;
  members: string[];
  enabled: boolean | null;
}

interface Differences {
  buildId: string;
  activeBuildId: string | null;
  differences: Difference[];
}

let app: TestApp;
let appId: string;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.close());
beforeEach(() => {
  appId = uniqueName('app');
});

const compare = (buildId: string, owner = appId) =>
  app.request<Differences>('GET', `${appPath(owner)}/build/${buildId}/differences`);
const differencesOf = async (buildId: string): Promise<Difference[]> => {
  const { status, body } = await compare(buildId);
  expect(status).toBe(200);
  return body.differences;
};
/** Returns a difference of the application itself, with default members. */
const difference = (part: string, change: string, name: string, more: Partial<Difference> = {}) => ({
  part,
  change,
  applicationId: appId,
  within: null,
  name,
  members: [],
  enabled: null,
  ...more,
});

/** Returns a process with one task in a lane. `before` inserts another task first, which shifts the index of every node. */
const laneProcess = (execute: string, before = false): string => {
  const refs = ['approve', ...(before ? ['check'] : [])].map(
    (id) => `<bpmn:flowNodeRef>${id}</bpmn:flowNodeRef>`,
  );
  return processFile(
    'loan',
    [
      `<bpmn:laneSet id="lanes"><bpmn:lane id="clerk" name="Clerks" svc:execute="${execute}">${refs.join('')}</bpmn:lane></bpmn:laneSet>`,
      ...(before ? [userTask('check')] : []),
      node('startEvent', 'start'),
      userTask('approve'),
      node('endEvent', 'end'),
      flows(before ? 'start>check check>approve approve>end' : 'start>approve approve>end'),
    ].join('\n'),
  );
};
const system = (members: object = {}) => ({
  resourceName: 'stock',
  type: 'MCP',
  name: 'Stock',
  baseUrl: 'https://mcp.example.com/mcp',
  ...members,
});

/** Delivers a version with a system and its tools. Returns the id of its build. */
const deliver = async (
  parts: { systems?: object[]; workflows?: object[]; bpmn?: string[]; settings?: object },
  tools: { name: string; enabled?: boolean; definitionHash?: string }[] = [],
): Promise<string> => {
  const place = { appId, versionId: uniqueName('v') };
  const { settings, bpmn = [], ...own } = parts;
  const document = packageDocument(appId, { bpmn, package: own });
  const application = document['application'] as object;
  const stored = await store(app, place, {
    ...document,
    application: { ...application, ...(settings === undefined ? {} : { settings }) },
  });
  expect({ status: stored.status, text: stored.text }).toMatchObject({ status: 200 });
  const [row] = await systemRows(app, place);
  if (row !== undefined) {
    await insertTools(app, row.id, tools);
  }
  await commit(app, place);
  return (await build(app, place)).body.buildId;
};

describe('GET /resource/app/{appId}/build/{buildId}/differences', () => {
  it('reports everything as added if no build is active', async () => {
    const buildId = await deliver({ bpmn: [laneProcess('clerk')], systems: [system()] }, [
      { name: 'count', enabled: true },
    ]);
    const { status, body } = await compare(buildId);
    expect(status).toBe(200);
    expect(body).toEqual({
      buildId,
      activeBuildId: null,
      differences: [
        difference('PROCESS', 'ADDED', 'loan'),
        difference('PERMISSION', 'ADDED', 'clerk', { within: 'loan/Clerks' }),
        difference('SYSTEM', 'ADDED', 'stock'),
        difference('TOOL', 'ADDED', 'count', { within: 'stock', enabled: true }),
        difference('SETTINGS', 'ADDED', 'settings'),
      ],
    });
  });

  it('finds none in the active build, and none in an equal build of another version', async () => {
    const parts = {
      bpmn: [laneProcess('clerk')],
      systems: [system()],
      workflows: [workflowOf('ask', [agentNode() as never])],
    };
    const buildId = await deliver(parts, [{ name: 'count' }]);
    await activate(app, appId, buildId);
    expect((await compare(buildId)).body).toEqual({ buildId, activeBuildId: buildId, differences: [] });
    expect(await differencesOf(await deliver(parts, [{ name: 'count' }]))).toEqual([]);
  });

  it('compares with baseBuildId instead of the active build', async () => {
    const first = await deliver({ bpmn: [laneProcess('clerk')] });
    const second = await deliver({ bpmn: [laneProcess('manager')] });
    await activate(app, appId, second);
    const against = (buildId: string, base: string) =>
      app.request<Differences>(
        'GET',
        `${appPath(appId)}/build/${buildId}/differences?baseBuildId=${encodeURIComponent(base)}`,
      );
    const { status, body } = await against(second, first);
    expect(status).toBe(200);
    expect(body).toEqual({
      buildId: second,
      activeBuildId: second,
      baseBuildId: first,
      differences: [
        difference('PROCESS', 'CHANGED', 'loan', { members: ['clerk'] }),
        difference('PERMISSION', 'REMOVED', 'clerk', { within: 'loan/Clerks' }),
        difference('PERMISSION', 'ADDED', 'manager', { within: 'loan/Clerks' }),
      ],
    });
    expect((await against(first, first)).body.differences).toEqual([]);
    expect((await against(first, '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')).status).toBe(404);
    expect((await against(first, 'a b')).status).toBe(400);
  });

  it('names changed elements and permissions of a process, but no node that has only moved', async () => {
    await activate(app, appId, await deliver({ bpmn: [laneProcess('clerk, manager')] }));
    const buildId = await deliver({ bpmn: [laneProcess('clerk, auditor', true)] });
    const [process, ...others] = await differencesOf(buildId);
    expect(process).toEqual({
      ...difference('PROCESS', 'CHANGED', 'loan'),
      members: expect.any(Array) as string[],
    });
    expect(process?.members.toSorted()).toEqual([
      'check',
      'check_approve',
      'clerk',
      'start_approve',
      'start_check',
    ]);
    expect(others).toEqual([
      difference('PERMISSION', 'ADDED', 'auditor', { within: 'loan/Clerks' }),
      difference('PERMISSION', 'REMOVED', 'manager', { within: 'loan/Clerks' }),
    ]);
  });

  it('names changes in workflows, agents, systems, tools and settings', async () => {
    const agent = (options: object) => workflowOf('ask', [agentNode({}, options as never) as never]);
    const tools = [{ name: 'count' }, { name: 'move', enabled: false }, { name: 'gone' }];
    await activate(
      app,
      appId,
      await deliver({ workflows: [agent({}), emptyWorkflow('old')], systems: [system()] }, tools),
    );
    const buildId = await deliver(
      {
        workflows: [agent({ operationPrompt: 'Count ${item}.' }), emptyWorkflow('new')],
        systems: [system({ resourceName: 'STOCK', baseUrl: 'https://other.example.com/mcp' })],
        settings: { platforms: 'WEB' },
      },
      [
        { name: 'count', definitionHash: 'f'.repeat(64) },
        { name: 'move', enabled: true },
        { name: 'weigh', enabled: false },
      ],
    );
    expect(await differencesOf(buildId)).toEqual([
      difference('WORKFLOW', 'CHANGED', 'ask', { members: ['agent'] }),
      difference('WORKFLOW', 'ADDED', 'new'),
      difference('WORKFLOW', 'REMOVED', 'old'),
      difference('AGENT', 'CHANGED', 'Ask', { within: 'ask', members: ['operationPrompt'] }),
      difference('SYSTEM', 'CHANGED', 'STOCK', { members: ['baseUrl'] }),
      difference('TOOL', 'CHANGED', 'count', { within: 'STOCK', members: ['definition'], enabled: true }),
      difference('TOOL', 'CHANGED', 'move', { within: 'STOCK', members: ['enabled'], enabled: true }),
      difference('TOOL', 'ADDED', 'weigh', { within: 'STOCK', enabled: false }),
      difference('TOOL', 'REMOVED', 'gone', { within: 'stock' }),
      difference('SETTINGS', 'CHANGED', 'settings', { members: ['platforms'] }),
    ]);
  });

  it('includes libraries, and names the application of each part', async () => {
    const library = uniqueName('library');
    const libraryOf = async (permission: string) => {
      const { buildId } = await publish(app, { appId: library, bpmn: laneProcess(permission) });
      return [{ appId: library, buildId }];
    };
    const before = await publish(app, { appId, libraries: await libraryOf('clerk'), activate: true });
    const after = await publish(app, { appId, libraries: await libraryOf('auditor') });
    const permission = { applicationId: library, within: 'loan/Clerks' };
    expect(await differencesOf(after.buildId)).toEqual([
      difference('PROCESS', 'CHANGED', 'loan', { applicationId: library, members: ['clerk'] }),
      difference('PERMISSION', 'ADDED', 'auditor', permission),
      difference('PERMISSION', 'REMOVED', 'clerk', permission),
      difference('LIBRARY', 'CHANGED', library, { members: ['build'] }),
    ]);
    await activate(app, appId, after.buildId);
    expect(await differencesOf(before.buildId)).toHaveLength(4);
  });

  it('answers 404 for an unknown build and for one of another application, active or not', async () => {
    const own = await deliver({ bpmn: [laneProcess('clerk')] });
    await activate(app, appId, own);
    for (const [buildId, owner] of [
      ['unknown', appId],
      [own, uniqueName('other')],
    ] as const) {
      const { status, text } = await compare(buildId, owner);
      expect(status).toBe(404);
      expect(text).toContain('Build not found for this application.');
    }
  });

  it('does not evict cached definitions of running processes', async () => {
    const small = await TestApp.start({ 'buildLimits.cacheEntries': '1', JOBS_CONCURRENCY: '0' });
    try {
      const running = await publish(small, { bpmn: taskProcess('running', userTask('a')) });
      expect((await start(small, running, 'running', {})).status).toBe(200);
      await activate(app, appId, await deliver({ bpmn: [laneProcess('clerk')] }));
      const buildId = await deliver({ bpmn: [laneProcess('auditor')] });
      const path = `${appPath(appId)}/build/${buildId}/differences`;
      expect((await small.request<Differences>('GET', path)).body.differences).toHaveLength(3);

      const statements: string[] = [];
      small.dataSource.logger = {
        logQuery: (query: string) => void statements.push(query),
        logQueryError: () => undefined,
      } as unknown as Logger;
      expect((await start(small, running, 'running', {})).status).toBe(200);
      expect(statements.length).toBeGreaterThan(0);
      expect(statements.filter((statement) => statement.includes('build_definitions'))).toEqual([]);
    } finally {
      await small.close();
    }
  });

  it.each([
    ['too many requests wait', 'buildLimits.comparisonQueue'],
    ['a request waits too long', 'buildLimits.comparisonWaitMs'],
  ])('answers 503 when %s, and succeeds later', async (_when, setting) => {
    const buildId = await deliver({ bpmn: [laneProcess('clerk')] });
    const path = `${appPath(appId)}/build/${buildId}/differences`;
    const busy = await TestApp.start({ [setting]: '0' });
    try {
      await vi.waitFor(async () => {
        const answers = await Promise.all([busy.request('GET', path), busy.request('GET', path)]);
        const [compared, refused] = answers.toSorted((one, other) => one.status - other.status);
        expect(compared?.status).toBe(200);
        expect(refused?.status).toBe(503);
        expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(refused?.body['message']).toBe('Too many build comparisons are waiting; try again.');
      });
      expect((await busy.request('GET', path)).status).toBe(200);
    } finally {
      await busy.close();
    }
  });
});
