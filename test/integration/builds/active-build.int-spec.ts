import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { ActiveBuildsService } from '../../../src/delivery/builds/active/active-builds.service.js';
import type { ActivatedBuild } from '../../../src/delivery/builds/model/builds.types.js';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { appPath, publish } from '../../support/runtime/publish.js';
import { activate, activeRow } from './rows.js';

let app: TestApp;
let appId: string;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.close());
beforeEach(() => {
  appId = uniqueName('app');
});

const activations = async () => {
  const events = await app.dataSource.getRepository(AuditEventEntity).find({
    where: { appId, action: 'build.activate' as AuditEventEntity['action'] },
    order: { id: 'ASC' },
  });
  return events.map(({ outcome, details, appVersionId }) => ({ outcome, details, appVersionId }));
};

describe('PUT /resource/app/{appId}/active-build', () => {
  it('replaces the active build only if If-Match names it', async () => {
    const one = await publish(app, { appId, bpmn: userTaskProcess() });
    const two = await publish(app, { appId, bpmn: userTaskProcess() });
    const choose = (buildId: string, ifMatch: string) =>
      app.request('PUT', `${appPath(appId)}/active-build`, {
        body: { buildId },
        headers: { 'if-match': ifMatch },
      });
    const none = await choose(one.buildId, '*');
    expect([none.status, none.body['message']]).toEqual([412, 'It was changed meanwhile: read it again.']);
    const first = await activate(app, appId, one.buildId);
    const tag = first.headers.get('etag') ?? '';
    const read = await app.request('GET', `${appPath(appId)}/active-build`);
    expect(read.headers.get('etag')).toBe(tag);
    const same = { headers: { 'if-none-match': tag } };
    expect((await app.request('GET', `${appPath(appId)}/active-build`, same)).status).toBe(304);

    const both = await Promise.all([choose(two.buildId, tag), choose(two.buildId, tag)]);
    expect(both.filter(({ status }) => status === 412)).toHaveLength(1);
    expect((await choose(one.buildId, tag)).status).toBe(412);
    expect((await activeRow(app, appId))?.buildId).toBe(two.buildId);
    expect((await choose(one.buildId, '*')).status).toBe(200);
    expect((await choose(one.buildId, 'none')).status).toBe(400);
  });

  it('requires If-Match if the deployment does, except for the first activation', async () => {
    const strict = await TestApp.start({ HTTP_REQUIRE_IF_MATCH: 'true' });
    const one = await publish(strict, { appId, bpmn: userTaskProcess() });
    const two = await publish(strict, { appId, bpmn: userTaskProcess() });
    const first = await activate(strict, appId, one.buildId);
    const without = await activate(strict, appId, two.buildId);
    const same = await strict.request('PUT', `${appPath(appId)}/active-build`, {
      body: { buildId: two.buildId },
      headers: { 'if-match': first.headers.get('etag') ?? '' },
    });
    await strict.close();
    expect([first.status, without.status, same.status]).toEqual([200, 428, 200]);
    expect(without.body).toMatchObject({ message: 'If-Match is required: send the ETag of what was read.' });
    expect((await activeRow(app, appId))?.buildId).toBe(two.buildId);
  });

  it('returns the build and the previous one', async () => {
    const one = await publish(app, { appId, bpmn: userTaskProcess() });
    const two = await publish(app, { appId, bpmn: userTaskProcess() });

    const first = await activate(app, appId, one.buildId);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      buildId: one.buildId,
      previousBuildId: null,
      activatedDate: expect.stringMatching(/Z$/),
    });
    expect((await activate(app, appId, two.buildId)).body.previousBuildId).toBe(one.buildId);
    expect((await activate(app, appId, one.buildId)).body.previousBuildId).toBe(two.buildId);
    expect(await activeRow(app, appId)).toMatchObject({
      buildId: one.buildId,
      activatedBy: { userName: 'jane.doe' },
    });
    expect(await activations()).toEqual([
      {
        outcome: 'ok',
        appVersionId: one.versionId,
        details: { buildId: one.buildId, previousBuildId: null },
      },
      {
        outcome: 'ok',
        appVersionId: two.versionId,
        details: { buildId: two.buildId, previousBuildId: one.buildId },
      },
      {
        outcome: 'ok',
        appVersionId: one.versionId,
        details: { buildId: one.buildId, previousBuildId: two.buildId },
      },
    ]);
  });

  it('does nothing when the build is active already', async () => {
    const { buildId } = await publish(app, { appId, bpmn: userTaskProcess() });
    const first = await activate(app, appId, buildId);
    const second = await activate(app, appId, buildId);

    expect(second.body).toEqual({ ...first.body, previousBuildId: buildId });
    expect(await activations()).toHaveLength(1);
  });

  it('answers 404 for an unknown build and for one of another application, and changes nothing', async () => {
    const foreign = await publish(app, { bpmn: userTaskProcess() });
    for (const id of [foreign.buildId, 'unknown']) {
      const { status, text } = await activate(app, appId, id);
      expect(status).toBe(404);
      expect(text).toContain('Build not found for this application.');
    }
    expect(await activeRow(app, appId)).toBeNull();
  });

  it.each([[{}], [{ buildId: '' }], [{ buildId: 7 }], [{ buildId: 'a b' }], [{ buildId: 'x', more: 1 }]])(
    'answers 400 to %j',
    async (body) => {
      expect((await app.request('PUT', `${appPath(appId)}/active-build`, { body })).status).toBe(400);
    },
  );
});

describe('GET /resource/app/{appId}/active-build', () => {
  it('answers 404 until a build is active', async () => {
    const path = `${appPath(appId)}/active-build`;
    const missing = await app.request('GET', path);
    expect(missing.status).toBe(404);
    expect(missing.body['message']).toBe('The application has no active build.');
    const { buildId } = await publish(app, { appId, bpmn: userTaskProcess() });
    const { body } = await activate(app, appId, buildId);
    expect((await app.request('GET', path)).body).toEqual({ buildId, activatedDate: body.activatedDate });
  });
});

const info = (options = {}) => app.request('GET', `/rtm/api/runtime/app/${appId}/build/info`, options);

describe('GET /rtm/api/runtime/app/{appId}/build/info', () => {
  it('returns the active build with its settings to any caller with a token', async () => {
    const settings = {
      platforms: 'WEB',
      themeId: 'blue',
      dateDisplayFormat: { format: 'dd.MM.yyyy' },
      numberDisplayFormat: { minDecimals: 1, maxDecimals: 3 },
      currencyDisplayFormat: { format: 'symbol' },
      defaultLanguageCode: 'de-AT',
    };
    const application = { formatVersion: 1, appId, name: 'Sample', settings };
    const published = await publish(app, { appId, package: { application }, activate: true });
    const { status, body } = await info({ token: await app.tokenWith({ scope: 'openid' }) });

    expect(status).toBe(200);
    expect(body).toEqual({
      buildId: published.buildId,
      applicationId: appId,
      buildSettings: { applicationVersionId: published.versionId, ...settings },
    });
  });

  it('has defaults for settings that the package leaves out', async () => {
    await publish(app, { appId, bpmn: userTaskProcess(), activate: true });
    expect((await info()).body['buildSettings']).toMatchObject({
      platforms: 'OMNICHANNEL',
      themeId: null,
      defaultLanguageCode: 'en',
    });
  });

  it('answers 404 without an active build, 401 without a token, 400 to a bad path', async () => {
    await publish(app, { appId, bpmn: userTaskProcess() });
    expect((await info()).status).toBe(404);
    expect((await info({ token: null })).status).toBe(401);
    expect((await app.request('GET', '/rtm/api/runtime/app/a%20b/build/info')).status).toBe(400);
  });
});

describe('listeners of activations', () => {
  it('take part in the transaction: their writes and the active build are stored together or not at all', async () => {
    const service = app.nest.get(ActiveBuildsService);
    const one = await publish(app, { appId, bpmn: userTaskProcess(), activate: true });
    const two = await publish(app, { appId, bpmn: userTaskProcess() });
    const seen: { build: ActivatedBuild; at: string }[] = [];
    let fails = true;
    service.onActivated({
      prepare: async (build) => {
        seen.push({ build, at: 'before' });
      },
      store: async (_manager, build) => {
        seen.push({ build, at: 'inside' });
        if (fails && build.buildId === two.buildId) {
          throw new Error('cannot');
        }
      },
      stored: async () => undefined,
    });

    expect((await activate(app, appId, two.buildId)).status).toBe(500);
    expect((await activeRow(app, appId))?.buildId).toBe(one.buildId);
    fails = false;
    expect((await activate(app, appId, two.buildId)).status).toBe(200);

    expect(seen.map(({ at }) => at)).toEqual(['before', 'inside', 'before', 'inside']);
    expect(seen[3]?.build).toBe(seen[2]?.build);
    expect(seen[3]?.build).toMatchObject({
      buildId: two.buildId,
      previousBuildId: one.buildId,
      definitions: [{ name: 'hello', buildId: two.buildId }],
    });
    await activate(app, appId, two.buildId);
    expect(seen.filter(({ at }) => at === 'inside')).toHaveLength(2);
  });
});
