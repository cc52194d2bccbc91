import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { node, taskProcess, userTaskProcess } from '../../support/runtime/process-files.js';
import { packageDocument, publish } from '../../support/runtime/publish.js';
import { auditRows, newPlace } from '../systems/rows.js';
import {
  activate,
  activeRow,
  build,
  commit,
  graphOf,
  nodeRows,
  numbersOf,
  packageRow,
  store,
  systemRows,
} from './rows.js';

const ROUNDS = 8;

const system = (name: string) => ({
  resourceName: name,
  type: 'REST',
  name,
  baseUrl: 'https://scores.example.com',
});

describe('concurrent deliveries', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());

  it('of several packages store exactly one of them, completely', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = newPlace();
      const packages = ['one', 'two', 'three'].map((name) =>
        packageDocument(place.appId, {
          bpmn: userTaskProcess(name),
          package: { systems: [system(name), system('shared')] },
        }),
      );
      const answers = await Promise.all(packages.map((document) => store(app, place, document)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const stored = await packageRow(app, place);
      const winner = answers.findIndex(({ body }) => body.checksum === stored?.checksum);
      expect((await systemRows(app, place)).map(({ name }) => name)).toEqual(
        [['one', 'two', 'three'][winner] ?? '', 'shared'].toSorted(),
      );
    }
  });

  it('of one package take effect once', async () => {
    const place = newPlace();
    const document = packageDocument(place.appId, { package: { systems: [system('one')] } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => store(app, place, document)));

    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect(await auditRows(app, place)).toHaveLength(1);
  });

  it('of a package and a commit: either the commit holds the package, or the package is refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = newPlace();
      const before = await store(
        app,
        place,
        packageDocument(place.appId, { bpmn: userTaskProcess('before') }),
      );
      const later = packageDocument(place.appId, { bpmn: userTaskProcess('later') });
      const [stored, committed] = await Promise.all([store(app, place, later), commit(app, place)]);

      expect(committed.status).toBe(200);
      expect([200, 409]).toContain(stored.status);
      const { checksum } = stored.status === 200 ? stored.body : before.body;
      expect((await packageRow(app, place))?.checksum).toBe(checksum);
      const { body } = await build(app, place);
      expect(body.resources[0]?.name).toBe(stored.status === 200 ? 'later' : 'before');
    }
  });

  it('of commits: one succeeds', async () => {
    const place = newPlace();
    await store(app, place, packageDocument(place.appId));
    const answers = await Promise.all(Array.from({ length: 5 }, () => commit(app, place)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
  });

  it('of builds give every node one number', async () => {
    const many = taskProcess(
      'hello',
      ...Array.from({ length: 40 }, (_none, index) => node('userTask', `task_${index}`)),
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = newPlace();
      await store(app, place, packageDocument(place.appId, { bpmn: many }));
      await commit(app, place);
      const builds = await Promise.all(Array.from({ length: 4 }, () => build(app, place)));

      expect(builds.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      const [first = {}, ...others] = await Promise.all(
        builds.map(({ body }) => numbersOf(app, body.buildId, 'hello')),
      );
      expect(new Set(Object.values(first)).size).toBe(42);
      for (const numbers of others) {
        expect(numbers).toEqual(first);
      }
      const { svcUuid } = await graphOf(app, builds[0]?.body.buildId ?? '', 'hello');
      expect(await nodeRows(app, svcUuid)).toHaveLength(42);
    }
  });

  it('of activations leave one build active, and each names the one before it', async () => {
    const { appId, ...one } = await publish(app, { bpmn: userTaskProcess() });
    const two = await publish(app, { appId, bpmn: userTaskProcess() });
    const three = await publish(app, { appId, bpmn: userTaskProcess() });
    const ids = [one.buildId, two.buildId, three.buildId];
    const answers = await Promise.all(ids.map((id) => activate(app, appId, id)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    // Every build but the last is the previous build of another activation.
    const before = answers.map(({ body }) => body.previousBuildId);
    const last = ids.filter((id) => !before.includes(id));
    expect(before.filter((id) => id === null)).toHaveLength(1);
    expect(new Set(before).size).toBe(3);
    expect(last).toEqual([(await activeRow(app, appId))?.buildId]);
  });
});
