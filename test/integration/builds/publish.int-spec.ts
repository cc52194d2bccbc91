import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuildDefinitionsService } from '../../../src/modules/builds/contents/build-definitions.service.js';
import { TestApp } from '../../support/app.js';
import { userTaskProcess } from '../../support/runtime/bpmn.js';
import { publish } from '../../support/runtime/publish.js';

describe('delivery of a package', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());

  it('leads to an active build that front ends find, with numbered nodes', async () => {
    const { appId, versionId, buildId } = await publish(app, { bpmn: userTaskProcess(), activate: true });
    const { body } = await app.request('GET', `/rtm/api/runtime/app/${appId}/build/info`);
    expect(body).toMatchObject({
      buildId,
      applicationId: appId,
      buildSettings: { applicationVersionId: versionId },
    });
    const definition = await app.nest.get(BuildDefinitionsService).findDefinition(appId, buildId, 'hello');
    const numbers = definition.graph.nodes.map(({ id }) => id);
    expect(new Set(numbers).size).toBe(3);
    expect(Math.min(...numbers)).toBeGreaterThan(0);
  });
});
