import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverSample } from '../../../src/evaluation/sample-application.js';
import { TestApp } from '../../support/app.js';
import { appPath } from '../../support/runtime/publish.js';

const FOLDER = 'sample';

describe('the sample application of evaluation mode', () => {
  let app: TestApp;
  let changed: string;
  beforeAll(async () => {
    app = await TestApp.shared();
    changed = await mkdtemp(join(tmpdir(), 'svc-sample-'));
    await cp(FOLDER, changed, { recursive: true });
    const file = join(changed, 'library/application.json');
    const content = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...content, description: 'Another release.' }));
  });
  afterAll(async () => {
    await app.close();
    await rm(changed, { recursive: true, force: true });
  });

  const builds = async (appId: string) => {
    const { body } = await app.request<{ builds: { buildId: string; applicationVersionId: string }[] }>(
      'GET',
      `${appPath(appId)}/builds`,
    );
    return body.builds;
  };
  const activeBuild = async () =>
    (await app.request<{ buildId: string }>('GET', '/rtm/api/runtime/app/sample/build/info')).body.buildId;

  it('is delivered once, even if the server starts again', async () => {
    const build = await deliverSample(app.nest, FOLDER);
    expect(await activeBuild()).toBe(build);
    const [made] = await builds('sample');
    expect(made?.applicationVersionId).toMatch(/^sample-[0-9a-f]{12}$/);

    expect(await deliverSample(app.nest, FOLDER)).toBe(build);
    expect(await builds('sample')).toHaveLength(1);
    expect(await builds('sample-library')).toHaveLength(1);
  });

  it('is delivered again when it has changed', async () => {
    const before = await activeBuild();
    const build = await deliverSample(app.nest, changed);
    expect(build).not.toBe(before);
    expect(await activeBuild()).toBe(build);
    expect(await builds('sample')).toHaveLength(2);
  });

  it('returns to an earlier release without another build', async () => {
    const build = await deliverSample(app.nest, FOLDER);
    expect(await activeBuild()).toBe(build);
    expect(await builds('sample')).toHaveLength(2);
  });

  it('does not replace a build that a person delivers to the same application', async () => {
    const path = `${appPath('sample')}/app-version/mine`;
    const document = { application: { formatVersion: 1, appId: 'sample', name: 'Mine' } };
    expect((await app.request('PUT', `${path}/package`, { body: document })).status).toBe(200);
    expect((await app.request('POST', `${path}/commit`, { body: {} })).status).toBe(200);
    const { buildId } = (await app.request<{ buildId: string }>('POST', `${path}/build`, { body: {} })).body;
    await app.request('PUT', `${appPath('sample')}/active-build`, { body: { buildId } });

    expect(await deliverSample(app.nest, FOLDER)).toBe(buildId);
    expect(await activeBuild()).toBe(buildId);
  });
});
