import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { appPath, deliveryPath, packageDocument, workflowOf } from '../../support/runtime/publish.js';
import { auditRows, createdSystem, newPlace, type Place } from '../systems/rows.js';
import { store, type Problem } from './rows.js';
import { agentNode } from './workflow-nodes.js';

describe('GET /resource/app/{appId}/app-version/{versionId}/package/problems', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const pathOf = ({ appId, versionId } = place) => `${deliveryPath(appId, versionId)}/package/problems`;
  const problems = async (): Promise<Problem[]> =>
    (await app.request<{ problems: Problem[] }>('GET', pathOf())).body.problems;

  it('is empty for a package without problems', async () => {
    await store(app, place, packageDocument(place.appId, {}));
    expect(await app.request('GET', pathOf())).toMatchObject({ status: 200, body: { problems: [] } });
  });

  it('lists errors that prevent a commit and warnings of a build, and changes nothing', async () => {
    const { resourceDefinitionId, resourceId } = await createdSystem(app, place);
    const node = agentNode({}, { mcpServers: [{ resourceDefinitionId, appId: place.appId }] });
    const workflows = [workflowOf('flow', [node as never])];
    expect((await store(app, place, packageDocument(place.appId, { package: { workflows } }))).status).toBe(
      200,
    );
    const before = await auditRows(app, place);
    expect((await problems()).map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'AGENT_SYSTEM_NEVER_TESTED'],
      ['warning', 'AGENT_WITHOUT_TOOLS'],
    ]);
    expect(await auditRows(app, place)).toEqual(before);

    const system = `${appPath(place.appId)}/app-version/${place.versionId}/rt/system/ri/${resourceId}/integration/api/systems`;
    expect((await app.request('DELETE', system)).status).toBe(200);
    expect(await problems()).toContainEqual(expect.objectContaining({ severity: 'error' }));
  });

  it('answers 404 without a package, 401 without a token, 403 without the permission', async () => {
    expect(await app.request('GET', pathOf())).toMatchObject({
      status: 404,
      body: { message: 'Application package not found.' },
    });
    expect((await app.request('GET', pathOf(), { token: null })).status).toBe(401);
    const token = await app.tokenWith({ scope: 'openid integration:manage' });
    expect((await app.request('GET', pathOf(), { token })).status).toBe(403);
  });
});
