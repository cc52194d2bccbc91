import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse } from '../../support/app.js';
import { listPath, uniqueName } from '../../support/factories.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  instancePath,
  start,
  type StartBody,
} from '../../support/runtime/runtime-client.js';

const NAMES = ['integration-management', 'process-read', 'process-administration', 'actor'];
const RULES = Object.fromEntries(
  [...NAMES, 'application-delivery'].map((name) => [
    name,
    [
      { claim: 'sub', has: 'user-1' },
      { claim: 'roles', hasAt: name },
    ],
  ]),
);

interface InstanceBody extends StartBody {
  children: { uuid: string }[];
}

describe('a process of a library that another application calls', () => {
  let app: TestApp;
  let library: Published;
  let user: Published;
  let root: StartBody;
  let called: InstanceBody;
  /** Token of a caller with every permission for the calling application, but none for the library. */
  let ofUser: string;
  /** Token of such a caller, who started the root process. */
  let starter: string;

  beforeAll(async () => {
    app = await TestApp.start({
      PERMISSION_RULES: JSON.stringify(RULES),
      PROCESS_UI_ACTION_PERMISSION: 'actor',
      'jobLimits.pollMs': '20',
    });
    const appId = uniqueName('user');
    const lib = uniqueName('lib');
    const systems = [
      { resourceName: 'ledger', type: 'REST', name: 'Ledger', baseUrl: 'https://ledger.example.com' },
    ];
    library = await publish(app, {
      appId: lib,
      bpmn: taskProcess('inner', userTask('a')),
      package: { application: { formatVersion: 1, appId: lib, name: lib, usableBy: [appId] }, systems },
    });
    user = await publish(app, {
      appId,
      bpmn: processFile(
        'outer',
        `${node('startEvent', 'start')}
         ${node('callActivity', 'call', '', `calledElement="inner" svc:appId="${lib}"`)}
         ${node('endEvent', 'end')}${flows('start>call call>end')}`,
      ),
      libraries: [{ appId: lib, buildId: library.buildId }],
    });
    ofUser = await tokenOf({ roles: NAMES.map((name) => `${name}@${appId}`) });
    starter = await tokenOf({ sub: 'starter', roles: NAMES.map((name) => `${name}@${appId}`) });
    root = (await start(app, user, 'outer', {}, { token: starter })).body;
    const { children } = await eventually(
      async () => (await read(root.uuid)).body,
      (instance) => instance.children.length === 1,
    );
    called = (await read(children[0]?.uuid ?? '')).body;
  });
  afterAll(() => app.close());

  const tokenOf = (claims: Record<string, unknown>): Promise<string> =>
    app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), ...claims });
  const read = (uuid: string, token?: string): Promise<TestResponse<InstanceBody>> =>
    app.request('GET', instancePath(uuid), token === undefined ? {} : { token });
  const status = async (answer: Promise<TestResponse>): Promise<number> => (await answer).status;

  it('belongs to the library, for readers and in lists', async () => {
    expect(called).toMatchObject({ applicationId: library.appId, rootApplicationId: user.appId });
    expect(await status(read(root.uuid, ofUser))).toBe(200);
    expect(await status(read(called.uuid, ofUser))).toBe(404);
    const list = await app.request('GET', instancePath('').slice(0, -1), { token: ofUser });
    expect(list.text).toContain(root.uuid);
    expect(list.text).not.toContain(`"uuid":"${called.uuid}"`);
    const ofLibrary = await tokenOf({ roles: [`process-read@${library.appId}`] });
    expect(await status(read(called.uuid, ofLibrary))).toBe(200);
    expect(await status(read(root.uuid, ofLibrary))).toBe(404);
  });

  it('can be operated on only with the permission for the library', async () => {
    const operate = (operation: string, token: string) =>
      status(app.request('POST', `${instancePath(called.uuid)}/${operation}`, { token }));
    expect(await operate('hold', ofUser)).toBe(404);
    const ofLibrary = await tokenOf({ roles: [`process-administration@${library.appId}`] });
    expect(await operate('hold', ofLibrary)).toBe(200);
    expect(await operate('release', ofLibrary)).toBe(200);
  });

  it('can be read by the starter of the root process, whose actions require a permission for the library', async () => {
    expect(await status(read(called.uuid, starter))).toBe(200);
    const act = (token: string) =>
      status(execute(app, called.uuid, called.tokens[0]?.uuid ?? '', ui('a'), {}, { token }));
    const roles = [`actor@${library.appId}`];
    expect(await act(starter)).toBe(404);
    expect(await act(await tokenOf({ roles }))).toBe(404);
    expect(await act(await tokenOf({ sub: 'starter', roles }))).toBe(200);
  });

  it('adds its systems to the list of the application', async () => {
    const list = async (path: string) => app.request('GET', path, { token: ofUser });
    expect((await list(`${listPath(user.appId, user.versionId)}?depTypes=LIB`)).text).toContain('Ledger');
    expect((await list(listPath(user.appId, user.versionId))).text).not.toContain('Ledger');
    expect((await list(listPath(library.appId, library.versionId))).status).toBe(403);
  });
});
