import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/platform/json/canonical-json.js';
import { AppPackageEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import { packText } from '../../../src/platform/json/packed-text.js';
import { TestApp } from '../../support/app.js';
import { node, taskProcess, userTaskProcess } from '../../support/runtime/process-files.js';
import { packageDocument, mapping, workflowOf } from '../../support/runtime/publish.js';
import { auditRows, commitVersion, newPlace, type Place } from '../systems/rows.js';
import { build, buildRows, commit, graphOf, packageRow, store } from './rows.js';
import { changeNode, getNode, nodePath } from './workflow-nodes.js';

const processWith = (tag: string, id: string, attributes = ''): string =>
  taskProcess('old', node(tag, id, '', attributes));
/** Refused: a task of another engine. */
const FOREIGN = processWith(
  'serviceTask',
  'pay',
  'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:class="org.example.Pay"',
);
/** Accepted: a user task without actions. */
const BARE = processWith('userTask', 'work');

describe('a stored package that the rules of this release refuse', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const documentOf = (bpmn: string) =>
    packageDocument(place.appId, { bpmn, package: { workflows: [workflowOf('flow', [mapping('a', 1)])] } });
  /** Stores a package without validation, as a release with looser rules would have done. */
  const storedBefore = async (bpmn: string): Promise<void> => {
    expect((await store(app, place, documentOf(userTaskProcess()))).status).toBe(200);
    const document = documentOf(bpmn);
    await app.dataSource.getRepository(AppPackageEntity).update(
      { appId: place.appId, appVersionId: place.versionId },
      {
        document: await packText(JSON.stringify(document)),
        checksum: createHash('sha256').update(canonicalJson(document)).digest('hex'),
      },
    );
  };

  it('cannot be committed until it is fixed, and the error names file, element and remedy', async () => {
    await storedBefore(FOREIGN);
    const { status, body } = await commit(app, place);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      error: 'Conflict',
      message:
        'The stored application package cannot be built by this release: fix the problems and deliver it again.',
      details: expect.stringMatching(/^processes\/process-0\.bpmn \(pay\): camunda:class .*svc:action/),
    });
    expect((await auditRows(app, place)).at(-1)).toMatchObject({
      action: 'version.commit',
      outcome: 'error',
      details: { code: 'PACKAGE_OUTDATED' },
    });
    expect((await store(app, place, documentOf(BARE))).status).toBe(200);
    expect((await commit(app, place)).status).toBe(200);
  });

  it('cannot be built if it was committed before, and the error names file, element and remedy', async () => {
    await storedBefore(FOREIGN);
    await commitVersion(app, place);
    expect((await commit(app, place)).body['message']).toContain('is committed');

    const { status, body } = await build(app, place);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      error: 'Conflict',
      message:
        'The stored application package cannot be built by this release: fix the problems and deliver it to another version.',
      details: expect.stringMatching(
        /^processes\/process-0\.bpmn \(pay\): camunda:class \(Camunda 7\) of serviceTask "pay" is not executed here; .*svc:action/,
      ),
    });
    expect(await buildRows(app, place.appId)).toEqual([]);
  });

  it('cannot be edited as a draft, and can be delivered again once it is fixed', async () => {
    await storedBefore(FOREIGN);
    const before = await packageRow(app, place);
    const { body: node } = await getNode(app, place, 'flow', 'a');
    const edit = { body: { ...node, inputBody: '2' } };
    const refused = await changeNode(app, 'PUT', nodePath(place, 'flow', 'a'), edit);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      problems: [{ severity: 'error', file: 'processes/process-0.bpmn', element: 'pay' }],
    });
    expect(await packageRow(app, place)).toEqual(before);

    expect((await store(app, place, documentOf(BARE))).status).toBe(200);
    expect((await commit(app, place)).status).toBe(200);
    expect((await build(app, place)).status).toBe(201);
  });

  it('gets the implicit action of a user task with its next build', async () => {
    await storedBefore(BARE);
    await commit(app, place);
    const { status, body } = await build(app, place);
    expect(status).toBe(201);
    const { nodes } = await graphOf(app, body.buildId, 'old');
    expect(nodes.find(({ key }) => key === 'work')).toMatchObject({
      actions: [{ name: 'complete', manual: true, optional: false }],
      uiActions: [{ name: 'complete', action: 'complete' }],
    });
  });
});
