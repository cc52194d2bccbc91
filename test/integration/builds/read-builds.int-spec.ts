import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { appPath, publish } from '../../support/runtime/publish.js';
import { build } from './rows.js';

interface Page {
  builds: { buildId: string; applicationVersionId: string; createdDate: string }[];
  next: string | null;
}

let app: TestApp;
let appId: string;
beforeAll(async () => {
  app = await TestApp.shared();
});
afterAll(() => app.close());
beforeEach(() => {
  appId = uniqueName('app');
});

const list = (query = '') => app.request<Page>('GET', `${appPath(appId)}/builds${query}`);

describe('GET /resource/app/{appId}/builds', () => {
  it('lists the builds of the application, newest first, page by page', async () => {
    const published = await publish(app, { appId, bpmn: userTaskProcess() });
    const ids = [published.buildId];
    for (let more = 0; more < 4; more += 1) {
      ids.unshift((await build(app, published)).body.buildId);
    }
    await publish(app, { bpmn: userTaskProcess() });

    const whole = await list();
    expect(whole.body.builds.map(({ buildId }) => buildId)).toEqual(ids);
    expect(whole.body.next).toBeNull();
    expect(whole.body.builds[0]).toMatchObject({
      buildStatus: 'COMMITTED',
      applicationId: appId,
      applicationVersionId: published.versionId,
      createdBy: { userName: 'jane.doe' },
    });
    const first = await list('?limit=2');
    const second = await list(`?limit=2&before=${first.body.next}`);
    const third = await list(`?limit=2&before=${second.body.next}`);
    expect([first, second, third].flatMap(({ body }) => body.builds.map(({ buildId }) => buildId))).toEqual(
      ids,
    );
    expect(third.body.next).toBeNull();
  });

  it('filters by creation time', async () => {
    const published = await publish(app, { appId, bpmn: userTaskProcess() });
    for (let more = 0; more < 2; more += 1) {
      // The builds must not be created within the same millisecond.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await build(app, published);
    }
    const { builds } = (await list()).body;
    const ids = builds.map(({ buildId }) => buildId);
    const [, second] = builds.map(({ createdDate }) => createdDate);
    const found = async (query: string): Promise<string[]> =>
      (await list(query)).body.builds.map(({ buildId }) => buildId);
    expect(await found(`?from=${second}`)).toEqual(ids.slice(0, 2));
    expect(await found(`?to=${second}`)).toEqual(ids.slice(2));
    expect(await found(`?from=${second}&before=${ids[0]}`)).toEqual(ids.slice(1, 2));
    expect(await found(`?from=${second}&to=${second}`)).toEqual([]);
  });

  it('is empty for an unknown application', async () => {
    expect((await list()).body).toEqual({ builds: [], next: null });
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'before=x', 'from=x'])('answers 400 to %s', async (query) => {
    const { status, text } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(text).toContain(query.split('=')[0]);
  });
});

describe('GET /resource/app/{appId}/build/{buildId}', () => {
  it('answers 404 for an unknown build and for one of another application', async () => {
    const { buildId } = await publish(app, { bpmn: userTaskProcess() });
    for (const id of [buildId, 'unknown']) {
      const { status, body } = await app.request('GET', `${appPath(appId)}/build/${id}`);
      expect(status).toBe(404);
      expect(body['message']).toBe('Build not found for this application.');
    }
  });

  it('answers 400 to a bad id', async () => {
    expect((await app.request('GET', `${appPath(appId)}/build/a%20b`)).status).toBe(400);
  });
});

const bpmnPath = (buildId: string, name = 'hello') =>
  `${appPath(appId)}/build/${buildId}/process/${name}/bpmn`;

describe('GET /resource/app/{appId}/build/{buildId}/process/{processDefinitionName}/bpmn', () => {
  it('returns the file byte for byte', async () => {
    const bpmn = `${userTaskProcess()}\r\n<!-- "ä" 在庫 😀 -->\t \n`;
    const { buildId } = await publish(app, { appId, bpmn });
    const { status, headers, text } = await app.request('GET', bpmnPath(buildId));

    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/xml; charset=utf-8$/);
    expect(text).toBe(bpmn);
  });

  it('accepts names with brackets, URL-encoded', async () => {
    const bpmn = userTaskProcess('hello').replace('name="hello"', 'name="[retail](new).hello"');
    const { buildId } = await publish(app, { appId, bpmn });
    const { status } = await app.request('GET', bpmnPath(buildId, encodeURIComponent('[retail](new).hello')));
    expect(status).toBe(200);
  });

  it('answers 404 for an unknown build, a foreign build and an unknown process', async () => {
    const other = await publish(app, { bpmn: userTaskProcess() });
    const own = await publish(app, { appId, bpmn: userTaskProcess() });
    const cases = [
      [bpmnPath('unknown'), 'Build not found for this application.'],
      [bpmnPath(other.buildId), 'Build not found for this application.'],
      [bpmnPath(own.buildId, 'Hello'), 'Process definition not found.'],
    ] as const;
    for (const [path, message] of cases) {
      const { status, body } = await app.request('GET', path);
      expect({ status, message: body['message'] }).toEqual({ status: 404, message });
    }
  });

  it.each(['a%20b', 'x'.repeat(65), '%F0%9F%98%80'])('answers 400 to the name %s', async (name) => {
    const { status, body } = await app.request('GET', bpmnPath('b', name));
    expect(status).toBe(400);
    expect(body['details']).toContain('processDefinitionName');
  });
});
