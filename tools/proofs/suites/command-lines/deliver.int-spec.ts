import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { svc } from '../../../../packages/client/src/command-line/svc.command.js';
import { Env } from '../../../../src/platform/config/env.js';
import { SystemEntity } from '../../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../../../test/support/app.js';
import { uniqueName } from '../../../../test/support/factories.js';
import { startToolListPeer } from '../../../../test/support/peers/scripted-mcp.peer.js';
import { appPath, deliveryPath } from '../../../../test/support/runtime/publish.js';
import { insertTools } from '../../../../test/integration/systems/rows.js';

let app: TestApp;
let token: string;
let folder: string;
let appId: string;
let libraryId: string;
beforeAll(async () => {
  app = await TestApp.start();
  token = await app.issuer.sign({});
});
afterAll(() => app.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-deliver-'));
  appId = uniqueName('app');
  libraryId = uniqueName('lib');
  await cp('sample', folder, { recursive: true });
  await change('application/application.json', {
    appId,
    libraries: [{ appId: libraryId, buildId: 'later' }],
  });
  await change('library/application.json', { appId: libraryId, usableBy: [appId] });
  await replace(
    'application/processes/loan_onboarding.bpmn',
    'svc:appId="sample-library"',
    `svc:appId="${libraryId}"`,
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function change(path: string, members: Record<string, unknown>): Promise<void> {
  const content = JSON.parse(await readFile(join(folder, path), 'utf8')) as object;
  await writeFile(join(folder, path), JSON.stringify({ ...content, ...members }));
}

async function replace(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8');
  expect(text).toContain(from);
  await writeFile(join(folder, path), text.replace(from, to));
}

/** Matches the output lines about differences, which the tests of `svc` cover. */
const DIFFERENCE_LINES =
  /^(no build is active|no differences from|differences from|CHANGE|added|changed|removed)/;

/** Runs the command against the test's service. */
async function run(args: string[], settings: Record<string, string> = { SVC_TOKEN: token }) {
  const lines: string[] = [];
  const errors: string[] = [];
  const status = await svc(['deliver', ...args], {
    env: Env.parse('maintenance', settings),
    print: (line) => lines.push(line),
    printError: (line) => errors.push(line),
    pathOf: (path) => path,
    readInput: () => Promise.resolve(''),
    untilStopped: () => new AbortController().signal,
    evaluation: () => Promise.resolve({ url: app.url, token }),
  });
  return { status, lines: lines.filter((line) => !DIFFERENCE_LINES.test(line)), errors: errors.join('\n') };
}

const library = () => [join(folder, 'library'), '--app', libraryId, '--version', 'v1', '--url', app.url];
const application = () => [join(folder, 'application'), '--app', appId, '--version', 'v1', '--url', app.url];
const buildIn = (lines: string[]) =>
  lines.find((line) => line.startsWith('build '))?.slice('build '.length) ?? '';

describe('npm run deliver', () => {
  it('delivers a library and an application that uses it, up to the active build', async () => {
    const first = await run([...library(), '--commit', '--build']);
    expect(first).toMatchObject({ status: 0, errors: '' });
    const libraryBuild = buildIn(first.lines);

    const second = await run([
      ...application(),
      '--commit',
      '--message',
      'First release',
      '--build',
      '--activate',
      '--force',
      '--library',
      `${libraryId}=${libraryBuild}`,
    ]);
    const build = buildIn(second.lines);
    expect({ ...second, lines: second.lines.filter((line) => !line.startsWith('warning: ')) }).toEqual({
      status: 0,
      errors: '',
      lines: [
        `package ${appId} v1 stored`,
        'version v1 committed',
        `build ${build}`,
        `active build ${build}`,
      ],
    });
    const info = await app.request('GET', `/rtm/api/runtime/app/${appId}/build/info`);
    expect(info.body).toMatchObject({ buildId: build, applicationId: appId });
    const manifest = await app.request('GET', `${appPath(appId)}/build/${build}`);
    expect(manifest.body['libraries']).toEqual([{ appId: libraryId, buildId: libraryBuild, level: 1 }]);
    const bpmn = await app.request('GET', `${appPath(appId)}/build/${build}/process/loan_onboarding/bpmn`);
    expect(bpmn.text).toBe(
      await readFile(join(folder, 'application/processes/loan_onboarding.bpmn'), 'utf8'),
    );
  });

  it('activates builds if the deployment requires If-Match', async () => {
    const strict = await TestApp.start({ HTTP_REQUIRE_IF_MATCH: 'true' });
    const settings = { SVC_TOKEN: await strict.issuer.sign({}) };
    const steps = ['--url', strict.url, '--commit', '--build', '--activate', '--force'];
    const first = await run([...library(), ...steps], settings);
    const second = await run([...library(), ...steps], settings);
    await strict.close();
    expect([first.errors, second.errors]).toEqual(['', '']);
    expect(second.lines.at(-1)).toBe(`active build ${buildIn(second.lines)}`);
    expect(buildIn(second.lines)).not.toBe(buildIn(first.lines));
  });

  it('does not replace a build activated in the meantime if the deployment requires If-Match', async () => {
    const strict = await TestApp.start({ HTTP_REQUIRE_IF_MATCH: 'true' });
    const settings = { SVC_TOKEN: await strict.issuer.sign({}) };
    const steps = [...library(), '--url', strict.url, '--commit', '--build'];
    const path = `${appPath(libraryId)}/active-build`;
    const activate = async (buildId: string): Promise<void> => {
      const request = { body: { buildId }, headers: { 'if-match': '*' } };
      const put = await strict.request('PUT', path, activated ? request : { body: { buildId } });
      expect(put.status).toBe(200);
      activated = true;
    };
    let activated = false;
    const others = [buildIn((await run(steps, settings)).lines), buildIn((await run(steps, settings)).lines)];
    const messages: string[] = [];
    for (const other of others) {
      const send = fetch;
      const stub: typeof fetch = async (input, init) => {
        if (input instanceof Request && input.url.includes('/differences')) {
          await activate(other);
        }
        return send(input, init);
      };
      vi.stubGlobal('fetch', stub);
      const { status, errors, lines } = await run([...steps, '--activate'], settings).finally(() =>
        vi.unstubAllGlobals(),
      );
      expect(status).toBe(1);
      messages.push(errors.replace(buildIn(lines), 'X'));
      expect((await strict.request('GET', path)).body).toMatchObject({ buildId: other });
    }
    await strict.close();
    const sentence =
      'Build X was made but not activated, because another build was activated in the meantime. Check that build, and run the ' +
      'command again to make another one.';
    expect(messages).toEqual([sentence, sentence]);
  });

  it('reports an unreadable active build like any other rejection by the service', async () => {
    const send = fetch;
    const stub: typeof fetch = async (input, init) =>
      input instanceof Request && input.method === 'GET' && input.url.endsWith('/active-build')
        ? Response.json({ message: 'Later.' }, { status: 503 })
        : send(input, init);
    vi.stubGlobal('fetch', stub);
    const steps = ['--commit', '--build', '--activate'];
    const { status, errors } = await run([...library(), ...steps]).finally(() => vi.unstubAllGlobals());
    expect({ status, errors }).toEqual({ status: 1, errors: '503: Later.' });
  });

  it('prints every warning, and does not activate a build with an agent that cannot run', async () => {
    const { lines: first } = await run([...library(), '--commit', '--build']);
    const steps = ['--commit', '--build', '--activate', '--library', `${libraryId}=${buildIn(first)}`];
    const { status, lines, errors } = await run([...application(), ...steps]);
    const build = buildIn(lines);
    expect(status).toBe(1);
    const untested = expect.stringMatching(/^warning: .*never tested/) as string;
    const [stored, committed, built] = [
      `package ${appId} v1 stored`,
      'version v1 committed',
      `build ${build}`,
    ].map((line) => lines.indexOf(line));
    expect(lines.slice(stored, committed), 'warnings of the commit').toContainEqual(untested);
    expect(lines.slice(committed, built), 'warnings of the build').toContainEqual(untested);
    expect(lines.slice(committed, built)).toContainEqual(
      expect.stringMatching(/^warning: workflows\/advise_client\.json: adviser: /) as string,
    );
    expect(lines.at(-1)).toBe(
      `agent advise_client: Adviser: system ${appId} everything: Its connection was never tested, so its tools are not known.`,
    );
    expect(errors).toBe(
      `Build ${build} was made but not activated, because some of its agents cannot run. Test the connections of their systems, ` +
        'enable their tools, and run the command again to make another build. --force activates it anyway.',
    );
    expect((await app.request('GET', `${appPath(appId)}/build/${build}`)).status).toBe(200);
    expect((await app.request('GET', `/rtm/api/runtime/app/${appId}/build/info`)).status).toBe(404);
  });

  it('uses the local evaluation server by default', async () => {
    const { status, lines } = await run([join(folder, 'library'), '--app', libraryId, '--version', 'v1'], {});
    expect({ status, lines }).toEqual({ status: 0, lines: [`package ${libraryId} v1 stored`] });
    expect((await run(library())).lines).toEqual([`package ${libraryId} v1 unchanged`]);
  });

  it('sets the addresses of systems for this environment', async () => {
    const libraryBuild = buildIn((await run([...library(), '--commit', '--build'])).lines);
    const moved = [...application(), '--library', `${libraryId}=${libraryBuild}`, '--base-url'];
    const url = 'https://mcp.example.com/mcp?a=b';
    expect(await run([...moved, `everything=${url}`])).toMatchObject({ status: 0, errors: '' });
    const { body } = await app.request<{ systems: { resourceName: string; baseUrl: string }[] }>(
      'GET',
      `${deliveryPath(appId, 'v1')}/package`,
    );
    const addresses = new Map(body.systems.map((system) => [system.resourceName, system.baseUrl]));
    expect(addresses.get('everything')).toBe(url);
    expect(addresses.get('core_banking')).toBe('https://core.example.com/api');

    expect(await run([...moved, `nothing=${url}`])).toMatchObject({
      status: 1,
      errors: '--base-url: there is no system nothing in the package.',
    });
    expect(await run([...moved, `everythnig=${url}`])).toMatchObject({
      status: 1,
      errors: '--base-url: there is no system everythnig in the package. Did you mean "everything"?',
    });
  });

  it('tests connections before the commit, also for a committed version, and stops when a test fails', async () => {
    const libraryBuild = buildIn((await run([...library(), '--commit', '--build'])).lines);
    const tested = [...application(), '--library', `${libraryId}=${libraryBuild}`, '--test-connections'];
    const deliverTo = (url: string) => run([...tested, '--commit', '--base-url', `everything=${url}`]);
    const failed = await deliverTo('http://127.0.0.1:9/mcp');
    expect(failed).toMatchObject({
      status: 1,
      errors:
        'testing the connection of Everything …\n' +
        'The package was stored, but a connection test failed, so nothing else was done.',
    });
    expect(failed.lines).not.toContain('version v1 committed');
    expect(failed.lines.at(-1)).toMatch(/^connection Everything: 500 Connection failed/);

    const peer = await startToolListPeer([{ name: 'echo', inputSchema: { type: 'object' } }]);
    try {
      const passed = await deliverTo(peer.url);
      expect(passed.status).toBe(0);
      expect(passed.lines).toContain('connection Everything: 200 Connection successful (1 tools)');
      expect(passed.lines.at(-1)).toBe('version v1 committed');
      const again = await deliverTo(peer.url);
      expect(again.lines).toEqual([
        `package ${appId} v1 unchanged`,
        'connection Everything: 200 Connection successful (1 tools)',
        'version v1 was committed before',
      ]);
    } finally {
      await peer.close();
    }
  });

  it('reports all problems and stores nothing', async () => {
    await change('application/systems/everything.json', { baseUrl: 'https://user:secret@example.com/mcp' });
    await replace(
      'application/processes/loan_onboarding.bpmn',
      'workflow="rate_application"',
      'workflow="gone"',
    );
    const { status, lines, errors } = await run([...application(), '--commit', '--build']);
    expect(status).toBe(1);
    expect(errors).toBe('400: The application package is not valid.');
    expect(lines.map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'application.json: /libraries/0',
      'systems/everything.json: /baseUrl',
      'processes/loan_onboarding.bpmn: check_credit',
      'processes/loan_onboarding.bpmn: rate_application',
    ]);
    expect(lines.join('\n')).not.toContain('secret@');
    expect((await app.request('GET', `${deliveryPath(appId, 'v1')}/package`)).status).toBe(404);
  });

  it('sends nothing if the folder cannot be read', async () => {
    await writeFile(join(folder, 'library/application.json'), '{');
    const { status, lines } = await run(library());
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^application\.json: Not JSON: /);
  });

  it('continues with a version committed with the same package, regardless of the order of members', async () => {
    const { lines: first } = await run([...library(), '--commit', '--build']);
    const steps = ['--commit', '--build', '--activate', '--library', `${libraryId}=${buildIn(first)}`];
    const refused = await run([...application(), ...steps]);
    expect(refused).toMatchObject({
      status: 1,
      errors: expect.stringContaining('run the command again') as string,
    });
    const path = join(folder, 'application/application.json');
    const content = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify(Object.fromEntries(Object.entries(content).toReversed())));

    const again = await run([...application(), ...steps]);
    expect(again).toMatchObject({ status: 1, errors: expect.stringContaining('not activated') as string });
    expect(again.lines.slice(0, 2)).toEqual([
      `package ${appId} v1 unchanged`,
      'version v1 was committed before',
    ]);
    expect(buildIn(again.lines)).not.toBe(buildIn(refused.lines));

    const forced = await run([...application(), ...steps, '--force']);
    expect(forced).toMatchObject({ status: 0, errors: '' });
    expect(forced.lines.at(-1)).toBe(`active build ${buildIn(forced.lines)}`);
    expect(await run([...application(), ...steps.slice(3)])).toMatchObject({
      status: 0,
      lines: [`package ${appId} v1 unchanged`, 'version v1 was committed before'],
    });
  });

  it('activates the new build when the same command is run again after a connection test', async () => {
    const { lines: first } = await run([...library(), '--commit', '--build']);
    const steps = ['--commit', '--build', '--activate', '--library', `${libraryId}=${buildIn(first)}`];
    expect((await run([...application(), ...steps])).status).toBe(1);
    const [system] = await app.dataSource
      .getRepository(SystemEntity)
      .findBy({ appId, resourceName: 'everything' });
    await insertTools(app, system?.id ?? '', [{ name: 'echo' }]);
    const { status, lines, errors } = await run([...application(), ...steps]);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(lines.at(-1)).toBe(`active build ${buildIn(lines)}`);
  });

  it('does not activate a build whose library has an agent that cannot run', async () => {
    await cp(
      join(folder, 'application/systems/everything.json'),
      join(folder, 'library/systems/everything.json'),
    );
    await cp(
      join(folder, 'application/workflows/advise_client.json'),
      join(folder, 'library/workflows/advise_client.json'),
    );
    const { lines: first } = await run([...library(), '--commit', '--build']);
    const libraries = ['--library', `${libraryId}=${buildIn(first)}`];
    await run([...application(), '--commit', ...libraries]);
    const [system] = await app.dataSource
      .getRepository(SystemEntity)
      .findBy({ appId, resourceName: 'everything' });
    await insertTools(app, system?.id ?? '', [{ name: 'echo' }]);

    const { status, lines, errors } = await run([...application(), '--build', '--activate', ...libraries]);
    expect(status).toBe(1);
    expect(lines).toContainEqual(expect.stringContaining(`warning: In the library "${libraryId}", `));
    expect(lines.filter((line) => line.startsWith('agent '))).toEqual([
      expect.stringMatching(`^agent of ${libraryId} advise_client: Adviser: The agent has no ready tool`),
      expect.stringContaining(`system ${libraryId} everything: Its connection was never tested`),
    ]);
    expect(errors).toContain('set it with --library in a new version.');
    expect((await app.request('GET', `/rtm/api/runtime/app/${appId}/build/info`)).status).toBe(404);
  });

  it('reports rejections by the service', async () => {
    await run([...library(), '--commit']);
    await change('library/application.json', { name: 'Another' });
    expect(await run([...library(), '--commit', '--build'])).toEqual({
      status: 1,
      lines: [],
      errors:
        '409: The application version is committed and can no longer be changed. Its package differs from the folder. Deliver to ' +
        'another version or, if only --library or --base-url differ, use the same values as before.',
    });
    const denied = await app.issuer.sign({ scope: '' });
    expect((await run(library(), { SVC_TOKEN: denied })).errors).toMatch(/^40[13]: /);
  });

  it('sends a token over https only, unless the service is local', async () => {
    const args = [
      join(folder, 'library'),
      '--app',
      libraryId,
      '--version',
      'v1',
      '--url',
      'http://svc.example.com',
    ];
    expect(await run(args)).toMatchObject({
      status: 1,
      errors: 'Tokens are sent only over https, unless the service is on this machine.',
    });
  });

  it('fails if the service is unreachable', async () => {
    const args = [
      join(folder, 'library'),
      '--app',
      libraryId,
      '--version',
      'v1',
      '--url',
      'http://127.0.0.1:9',
    ];
    const { status, errors } = await run(args);
    expect(status).toBe(1);
    expect(errors).toMatch(/^No answer from http:\/\/127\.0\.0\.1:9/);
  });

  it.each([
    [[], "missing required argument 'folder'"],
    [['a', '--app', 'x'], "required option '--version <id>' not specified"],
    [['a', '--app', 'x', '--version', 'v', '--activate'], '--activate needs --build'],
    [['a', '--app', 'x', '--version', 'v', '--library', 'lib'], '--library must be APP=BUILD'],
    [['a', '--app', 'x', '--version', 'v', '--base-url', 'system'], '--base-url must be SYSTEM=URL'],
    [['a', '--app', 'x', '--version', 'v', '--timeout', 'soon'], 'It must be a whole number of seconds.'],
    [['a', '--app', 'x', '--version', 'v', '--build', '--force'], '--force needs --activate'],
    [['a', '--app', 'x', '--version', 'v', '--yes'], "unknown option '--yes'"],
  ])('rejects the arguments %j', async (args, message) => {
    const { status, errors } = await run(args);
    expect(status).toBe(2);
    expect(errors).toContain(message);
  });

  it('requires a token with a service, and a service with a token', async () => {
    const args = [join(folder, 'library'), '--app', libraryId, '--version', 'v1'];
    expect(await run(library(), {})).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/^A token is required: set SVC_TOKEN/) as string,
    });
    expect(await run(args)).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/^Set the service that the token is for/) as string,
    });
  });
});
