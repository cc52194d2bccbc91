import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import { detailsPath, listPath } from '../../support/factories.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, instancePath, start } from '../../support/runtime/runtime-client.js';
import { createdSystem, newPlace } from '../systems/rows.js';

const INSTANCES = '/rtm/api/runtime/process-instance';
const RUNS = '/rtm/api/runtime/workflow-run';
const TEXTS = [
  `' OR '1'='1`,
  `'; DROP TABLE systems; --`,
  `" OR ""="`,
  `\\' OR 1=1 -- x`,
  `x' UNION SELECT content FROM process_instances /*`,
  '%_?:name $1 {0}',
];

describe('texts that look like SQL', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.shared();
    published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
  });
  afterAll(() => app.close());

  it.each(TEXTS)('are stored and returned unchanged: %s', async (text) => {
    const place = newPlace();
    const { resourceId } = await createdSystem(app, place, { payload: { name: text, description: text } });
    const { body } = await app.request('GET', detailsPath(resourceId, place.appId, place.versionId));
    expect(body).toMatchObject({ name: text, description: text });

    const token = await app.tokenWith({ sub: text, preferred_username: text, scope: 'process:read' });
    const { body: instance } = await start(app, published, 'plain', { [text]: text }, { token });
    await execute(app, instance.uuid, instance.tokens[0]?.uuid ?? '', ui('a'), { more: text }, { token });
    const shown = await app.request('GET', instancePath(instance.uuid), { token });
    expect(shown.body).toMatchObject({
      data: { [text]: text, more: text },
      startedBy: { userName: text },
    });
  });

  it.each(TEXTS)('reveal and break nothing in any part of a request: %s', async (text) => {
    const systems = await app.dataSource.getRepository(SystemEntity).count();
    const { body: foreign } = await start(app, published, 'plain', {});
    const stranger = await app.tokenWith({ sub: text, scope: 'openid' });
    const own = await app.request('GET', INSTANCES, { token: stranger });
    expect(own.text).not.toContain(foreign.uuid);

    const value = encodeURIComponent(text);
    const paths = [
      ...['applicationId', 'processDefinitionName', 'state', 'from', 'before', 'limit'].map(
        (name) => `${INSTANCES}?${name}=${value}`,
      ),
      ...['workflow', 'processInstanceUuid', 'state', 'before'].map((name) => `${RUNS}?${name}=${value}`),
      ...['key', 'before', 'limit'].map((name) => `/api/platform/discover/changes?${name}=${value}`),
      `${INSTANCES}/${value}`,
      `${RUNS}/${value}`,
      listPath(value, 'v1'),
      `${listPath()}?depTypes=${value}`,
    ];
    for (const path of paths) {
      const { status, text: answer } = await app.request('GET', path);
      expect([200, 400], path).toContain(status);
      expect(answer).not.toContain(foreign.uuid);
    }
    const key = text.replaceAll(' ', '');
    const [first, repeated] = [
      await start(app, published, 'plain', {}, { key }),
      await start(app, published, 'plain', {}, { key }),
    ];
    expect(repeated.text).toBe(first.text);
    expect(await app.dataSource.getRepository(SystemEntity).count()).toBe(systems);
  });
});
