import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, serviceTask, userTask } from '../../support/runtime/process-files.js';
import {
  appPath,
  deliveryPath,
  packageDocument,
  publish,
  type Published,
  mapping,
  workflowOf,
} from '../../support/runtime/publish.js';
import { eventually, instancePath, started } from '../../support/runtime/runtime-client.js';
import { newPlace, type Place } from '../systems/rows.js';
import { build, commit } from './rows.js';

interface InstanceBody {
  children: unknown[];
  state: string;
  incidents: { type: string; message: string }[];
}

const shared = processFile(
  'shared',
  `${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);

/** Library of which each build declares who may use it. */
class Library {
  readonly appId = uniqueName('lib');

  constructor(private readonly app: TestApp) {}

  release(usableBy: string[], members: Record<string, unknown> = {}): Promise<Published> {
    const { appId } = this;
    const application = { formatVersion: 1, appId, name: appId, usableBy, ...members };
    const workflows = [workflowOf('double', [mapping('a', 1)])];
    return publish(this.app, { appId, bpmn: shared, package: { application, workflows } });
  }
}

/** Returns a package with a process that calls the process of a library, and one that runs its workflow. */
function userOf(place: Place, { appId, buildId }: Published): Record<string, unknown> {
  const calls = processFile(
    'calls',
    `${node('startEvent', 'start')}${node('callActivity', 'call', '', `calledElement="shared" svc:appId="${appId}"`)}
     ${node('endEvent', 'end')}${flows('start>call call>end')}`,
  );
  const run = { name: 'run', kind: 'startWorkflow', workflow: 'double', appId };
  const runs = processFile(
    'runs',
    `${node('startEvent', 'start')}${serviceTask('s', [run])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
  );
  return packageDocument(place.appId, { bpmn: [calls, runs], libraries: [{ appId, buildId }] });
}

const put = (app: TestApp, place: Place, document: unknown): Promise<TestResponse> =>
  app.request('PUT', `${deliveryPath(place.appId, place.versionId)}/package`, { body: document });

/** Builds an application that uses a library. */
async function built(app: TestApp, place: Place, library: Published): Promise<Published> {
  expect((await put(app, place, userOf(place, library))).status).toBe(200);
  await commit(app, place);
  const { status, body } = await build(app, place);
  expect(status).toBe(201);
  return { ...place, buildId: body.buildId };
}

/** Starts a process and waits until it has a child or an incident, or has finished. */
async function outcomeOf(app: TestApp, user: Published, process: string): Promise<InstanceBody> {
  const { uuid } = await started(app, user, process);
  const { body } = await eventually(
    () => app.request<InstanceBody>('GET', instancePath(uuid)),
    ({ body: { children, incidents, state } }) =>
      children.length + incidents.length > 0 || state === 'FINISHED',
  );
  return body;
}

describe('the current consent of the owner of a library', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ 'jobLimits.pollMs': '20', 'jobLimits.retryBaseMs': '20' });
  });
  afterAll(() => app.close());

  it('is checked when a package is stored, committed and built; existing builds keep running', async () => {
    const place = newPlace();
    const library = new Library(app);
    const old = await library.release([place.appId]);
    const user = await built(app, place, old);
    const newer = await library.release([]);
    const next = { ...place, versionId: uniqueName('v') };
    for (const refused of [await build(app, place), await put(app, next, userOf(next, old))]) {
      expect(refused.status).toBe(409);
      expect(refused.text).toContain(`may not use build \\"${old.buildId}\\" of library`);
    }
    expect((await outcomeOf(app, user, 'calls')).children).toHaveLength(1);

    // A withdrawn build still defines the current consent until a new build is made.
    await app.request('POST', `${appPath(library.appId)}/build/${newer.buildId}/withdraw`, {
      body: { running: 'CONTINUE' },
    });
    expect((await build(app, place)).status).toBe(409);
    const stillOld = await library.release([place.appId, 'another']);
    expect((await build(app, place)).status).toBe(201);
    expect((await put(app, next, userOf(next, stillOld))).status).toBe(200);
  });

  it('does not apply to older builds that never named the application', async () => {
    const place = newPlace();
    const library = new Library(app);
    const old = await library.release([]);
    await library.release([place.appId]);
    expect((await put(app, place, userOf(place, old))).status).toBe(409);
  });

  it('is checked for its systems, too', async () => {
    const place = newPlace();
    const library = new Library(app);
    const systems = [
      { resourceName: 'ledger', type: 'REST', name: 'Ledger', baseUrl: 'https://ledger.example.com' },
    ];
    const application = (systemsUsableBy: string[]) => ({
      formatVersion: 1,
      appId: library.appId,
      name: library.appId,
      usableBy: [place.appId],
      systemsUsableBy,
    });
    const delivery = (systemsUsableBy: string[]): Promise<Published> =>
      publish(app, {
        appId: library.appId,
        bpmn: shared,
        package: { application: application(systemsUsableBy), systems },
      });
    const old = await delivery([place.appId]);
    const rest = {
      id: 'get',
      type: 'REST_ENDPOINT',
      payload: {
        system: { appId: library.appId, resourceName: 'ledger' },
        method: 'GET',
        path: '/x',
      },
    };
    const document = {
      ...packageDocument(place.appId, {
        bpmn: shared,
        libraries: [{ appId: library.appId, buildId: old.buildId }],
      }),
      workflows: [workflowOf('reads', [rest])],
    };
    expect((await put(app, place, document)).text).not.toContain('SYSTEM_NOT_FOUND');
    await delivery([]);
    expect((await put(app, place, document)).text).toContain('SYSTEM_NOT_FOUND');
  });

  it('is irrelevant for calls of a withdrawn library, which are refused', async () => {
    const place = newPlace();
    const library = new Library(app);
    const old = await library.release([place.appId]);
    const user = await built(app, place, old);
    await app.request('POST', `${appPath(library.appId)}/build/${old.buildId}/withdraw`, {
      body: { running: 'CONTINUE' },
    });
    const message = `Build "${old.buildId}" of library "${library.appId}" was withdrawn.`;
    expect((await outcomeOf(app, user, 'calls')).incidents).toMatchObject([
      { type: 'DEFINITION', message: `CHILD_NOT_STARTED: Process "shared" cannot be called: ${message}` },
    ]);
    expect((await outcomeOf(app, user, 'runs')).incidents).toMatchObject([
      { type: 'WORKFLOW', message: `WORKFLOW_NOT_FOUND: ${message}` },
    ]);
  });
});

describe('with LIBRARY_CONSENT_AT_CALLS', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'jobLimits.retryBaseMs': '20',
      LIBRARY_CONSENT_AT_CALLS: 'true',
    });
  });
  afterAll(() => app.close());

  it('each call of a process and a workflow requires the consent', async () => {
    const place = newPlace();
    const library = new Library(app);
    const user = await built(app, place, await library.release([place.appId]));
    expect((await outcomeOf(app, user, 'calls')).children).toHaveLength(1);
    expect((await outcomeOf(app, user, 'runs')).state).toBe('FINISHED');
    await library.release([]);
    const message = expect.stringContaining(`of library "${library.appId}" may no longer be used.`) as string;
    expect((await outcomeOf(app, user, 'calls')).incidents).toMatchObject([{ message }]);
    expect((await outcomeOf(app, user, 'runs')).incidents).toMatchObject([{ message }]);
    await library.release([place.appId]);
    expect((await outcomeOf(app, user, 'calls')).children).toHaveLength(1);
  });
});
