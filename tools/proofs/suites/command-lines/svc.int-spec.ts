import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { svc } from '../../../../packages/client/src/command-line/svc.command.js';
import { TestApp } from '../../../../test/support/app.js';
import { uniqueName } from '../../../../test/support/factories.js';
import { startToolListPeer, type ScriptedMcpPeer } from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  ui,
  userTask,
} from '../../../../test/support/runtime/process-files.js';
import { sequence, workflowOf } from '../../../../test/support/runtime/publish.js';
import { createSystem, testConnection } from '../../../../test/integration/tools/tool-support.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const GONE = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10';

interface Ended {
  status: number;
  output: string;
  errors: string;
}

describe('svc', () => {
  let app: TestApp;
  let token: string;
  let folder: string;
  let appId: string;

  beforeAll(async () => {
    app = await TestApp.start({ 'jobLimits.pollMs': '20', 'jobLimits.retryBaseMs': '20' });
    token = await app.issuer.sign({});
    folder = await mkdtemp(join(tmpdir(), 'svc-command-'));
    appId = uniqueName('greeter');
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the command as users do, in a separate process. */
  const run = (...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { ...process.env, SVC_URL: app.url, SVC_TOKEN: token };
      const command = ['dist/src/evaluation/svc.cli.js', ...args];
      const child = execFile(process.execPath, command, { env }, (error, output, errors) => {
        expect(output + errors).not.toContain(token);
        resolve({ status: typeof error?.code === 'number' ? error.code : 0, output, errors });
      });
      child.stdin?.end('{ "name": "Ada" }');
    });
  const json = async <Answer>(...args: string[]): Promise<Answer> => {
    const { status, output, errors } = await run('--json', ...args);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    return JSON.parse(output) as Answer;
  };
  /** Runs the command in this process, for rejections. */
  const inside = async (args: string[], settings: Record<string, string> = {}): Promise<Ended> => {
    const lines: string[] = [];
    const errors: string[] = [];
    const status = await svc(args, {
      env: limitedEnv('maintenance', { SVC_URL: app.url, SVC_TOKEN: token, ...settings }),
      print: (line) => lines.push(line),
      printError: (line) => errors.push(line),
      pathOf: (path) => path,
      readInput: () => Promise.resolve('nothing'),
      untilStopped: () => new AbortController().signal,
    });
    return { status, output: lines.join('\n'), errors: errors.join('\n') };
  };

  it('creates, checks and delivers an application, and completes its process', async () => {
    const path = join(folder, appId);
    expect((await run('init', path)).output).toContain(`svc start ${appId} greeting`);
    expect(await run('validate', path)).toEqual({ status: 0, output: 'The package is valid.\n', errors: '' });
    const delivered = await run('deliver', path, '--version', 'v1', '--commit', '--build', '--activate');
    expect(delivered).toMatchObject({ status: 0, errors: '' });
    const build = /^active build (.+)$/m.exec(delivered.output)?.[1] ?? '';
    expect(build).toMatch(/^[\w-]{20,}$/);

    const started = await json<{ uuid: string; buildId: string }>('start', appId, 'greeting');
    expect(started.buildId).toBe(build);
    const shown = await run('show', started.uuid);
    expect(shown.output.split('\n').slice(0, 6)).toEqual([
      `${started.uuid} STARTED ${appId} greeting`,
      'NODE            STATE    TOKEN',
      expect.stringMatching(/^Tell your name {2}ARRIVED {2}[\w-]{36}$/),
      '',
      'ACTION  NODE            BACK  TOKEN',
      expect.stringMatching(/^tell {4}Tell your name {8}[\w-]{36}$/),
    ]);
    const acted = await run('act', started.uuid, 'tell', '--data', '-');
    expect(acted).toMatchObject({ status: 0, errors: '' });
    expect(acted.output).toMatch(/^tell: executed\n.* FINISHED /);
    expect(await json('show', started.uuid)).toMatchObject({
      state: 'FINISHED',
      data: { name: 'Ada', greeting: 'Hello Ada' },
    });
    const traced = await json<{ events: { seq: number; kind: string }[] }>('trace', started.uuid);
    expect(traced.events.map(({ seq }) => seq)).toEqual(traced.events.map((_, index) => index + 1));
    expect((await run('trace', started.uuid)).output).toMatch(/^SEQ +TIME +EVENT +NODE +ACTOR\n/);
    expect(await json('show', '--app', appId)).toMatchObject([{ uuid: started.uuid }]);
    expect(await json('show', '--app', appId, '--data', 'a:1', '--data', 'b:2')).toEqual([]);
    expect((await run('show', '--data', 'a')).errors).toContain('data: must be a data path, a colon');
    expect(await inside(['start', appId, 'greting'])).toMatchObject({
      status: 1,
      errors: '404: Process definition not found. Did you mean "greeting"?',
    });
    expect(await inside(['act', started.uuid, 'tell'])).toMatchObject({
      status: 2,
      errors: 'The action tell is not open: no action is open.',
    });
  });

  it('prints how a build differs from the active one', async () => {
    const other = uniqueName('other');
    const path = join(folder, other);
    await inside(['init', path]);
    const deliver = (version: string, ...more: string[]) =>
      inside(['deliver', path, '--version', version, '--commit', '--build', '--activate', ...more]);
    const first = await deliver('v1');
    expect(first).toMatchObject({ status: 0, errors: '' });
    expect(first.output).toMatch(/^no build is active: everything is new \(\d+ parts\)$/m);
    expect((await deliver('v1')).output).toContain('no differences from the active build');

    const file = join(path, 'processes/greeting.bpmn');
    await writeFile(file, (await readFile(file, 'utf8')).replace('Hello', 'Good day'));
    const second = await deliver('v2', '--json');
    expect(JSON.parse(second.output)).toMatchObject({
      active: true,
      differences: {
        activeBuildId: expect.any(String) as string,
        differences: [{ part: 'PROCESS', change: 'CHANGED', name: 'greeting', members: ['greet'] }],
      },
    });
    await writeFile(file, (await readFile(file, 'utf8')).replace('Good day', 'Hi'));
    const third = await deliver('v3');
    expect(third.output).toMatch(/^changed +process +greeting +greet$/m);

    const [, newest = ''] = /^active build (.+)$/m.exec(third.output) ?? [];
    const { buildId: before } = JSON.parse(second.output) as { buildId: string };
    const earlier = await inside(['differences', other, before]);
    expect(earlier).toMatchObject({ status: 0, errors: '' });
    expect(earlier.output).toContain(`differences from the active build ${newest}:`);
    const based = await inside(['differences', other, newest, '--base', before]);
    expect(based.output).toMatch(
      /^differences from the build .+:\nCHANGE +.+\nchanged +process +greeting +greet$/,
    );
    expect((await inside(['differences', other, before, '--base', before])).output).toBe(
      `no differences from the build ${before}`,
    );
    expect(await inside(['differences', other, GONE])).toMatchObject({ status: 1 });

    expect(await inside(['withdraw', other, newest, '--running', 'hold'])).toEqual({
      status: 0,
      output: `${newest} is withdrawn; running instances: hold\n${other} has no active build now`,
      errors: '',
    });
    expect(await inside(['withdraw', other, GONE])).toMatchObject({ status: 1 });
    expect(await inside(['withdraw', other, newest, '--running', 'stop'])).toMatchObject({ status: 2 });
  });

  it.each([
    ['is older', () => Response.json({ message: 'No such route.' }, { status: 404 }), '404: No such route.'],
    ['does not answer', () => Promise.reject(new TypeError('fetch failed')), 'No answer from '],
  ])('activates a build even if the service %s and returns no differences', async (_, answer, why) => {
    const path = join(folder, uniqueName('older'));
    await inside(['init', path]);
    const send = fetch;
    const stub: typeof fetch = async (input, init) =>
      input instanceof Request && input.url.endsWith('/differences') ? answer() : send(input, init);
    vi.stubGlobal('fetch', stub);
    const steps = ['--version', 'v1', '--commit', '--build', '--activate', '--json'];
    const { status, output, errors } = await inside(['deliver', path, ...steps]).finally(() =>
      vi.unstubAllGlobals(),
    );
    expect(status).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ buildId: expect.any(String) as string, active: true });
    expect(JSON.parse(output)).not.toHaveProperty('differences');
    expect(errors).toContain(`The differences from the active build could not be read: ${why}`);
  });

  it('overwrites nothing', async () => {
    const path = join(folder, 'there');
    expect((await inside(['init', path])).status).toBe(0);
    await writeFile(join(path, 'application.json'), 'mine');
    const again = await inside(['init', path]);
    expect(again).toMatchObject({ status: 2, errors: `application.json already exists in ${path}.` });
    expect(await readFile(join(path, 'application.json'), 'utf8')).toBe('mine');
  });

  it('checks without a service, and reports what only a service can check', async () => {
    const nowhere = { SVC_URL: 'http://127.0.0.1:9' };
    const sample = await inside(['validate', 'sample/application'], nowhere);
    expect(sample).toMatchObject({ status: 0, errors: '' });
    expect(sample.output).toContain('not checked without a service: library sample-library');

    const path = join(folder, 'broken');
    await inside(['init', path]);
    const file = join(path, 'processes/greeting.bpmn');
    await writeFile(file, (await readFile(file, 'utf8')).replace('action="save_name"', 'action="gone"'));
    const broken = await inside(['validate', path, '--json'], nowhere);
    expect(broken.status).toBe(1);
    expect(JSON.parse(broken.output)).toMatchObject({
      valid: false,
      problems: [
        { severity: 'error', file: 'processes/greeting.bpmn', element: 'tell_name' },
        { severity: 'warning' },
      ],
    });
    expect((await inside(['validate', path], nowhere)).output).toMatch(
      /^processes\/greeting\.bpmn: tell_name: .+ \[UNKNOWN_ACTION\]\nwarning: .+ \[[A-Z_]+\]\nErrors: 1$/,
    );
    const refused = await inside(['--json', 'deliver', path, '--version', 'v1', '--commit']);
    expect(refused).toMatchObject({ status: 1, errors: '400: The application package is not valid.' });
    expect(JSON.parse(refused.output)).toMatchObject({
      appId: 'broken',
      package: null,
      committed: false,
      problems: [{ element: 'tell_name' }, { severity: 'warning' }],
    });
  });

  it('reports a misspelled reference once, and files outside the package', async () => {
    const path = join(folder, 'strayed');
    await inside(['init', path]);
    const file = join(path, 'processes/greeting.bpmn');
    const right = await readFile(file, 'utf8');
    await mkdir(join(path, 'process'));
    await mkdir(join(path, 'tests'));
    await writeFile(join(path, 'other.bpmn'), right);
    const strays = [
      'warning: other.bpmn: Not part of a package, so it is ignored. Files that end with ".bpmn" belong in processes/. [FILE_UNKNOWN]',
      'warning: process: Not part of a package, so it is ignored. Did you mean "processes"? [FILE_UNKNOWN]',
    ];
    expect(await inside(['validate', path])).toEqual({
      status: 0,
      output: [...strays, 'The package is valid.'].join('\n'),
      errors: '',
    });
    await writeFile(file, right.replace('targetRef="tell_name"', 'targetRef="tel_name"'));
    expect(await inside(['validate', path])).toMatchObject({
      status: 1,
      output: [
        ...strays,
        'processes/greeting.bpmn: to_name: targetRef names "tel_name", which is not in the file. Did you mean "tell_name"? (line 39) [UNRESOLVED_REFERENCE]',
        'Errors: 1',
      ].join('\n'),
    });
    const delivered = await inside(['deliver', path, '--version', 'v1']);
    expect(delivered.status).toBe(1);
    expect(delivered.output.split('\n').slice(0, 2)).toEqual(strays);
  });

  it('lists, enables and disables tools', async () => {
    let server: ScriptedMcpPeer | undefined;
    try {
      const schema = { type: 'object' };
      server = await startToolListPeer([
        { name: 'echo', description: 'Says it\nagain', inputSchema: schema },
        { name: 'wait', inputSchema: schema },
      ]);
      const versionId = uniqueName('v');
      await createSystem(app, { baseUrl: server.url, versionId, resourceName: 'inventory' });
      const untested = await inside(['tools', 'app', versionId]);
      expect(untested.output).toContain('none: the connection was not tested');
      expect(await inside(['tools', 'app', versionId, '--enable', 'Inventory tools/wait'])).toMatchObject({
        status: 2,
        errors: expect.stringContaining('the connection of Inventory tools was not tested') as string,
      });
      await testConnection(app, { baseUrl: server.url, versionId });
      const off = await inside(['tools', 'app', versionId, '--disable', 'Inventory tools/wait']);
      expect(off.output.split('\n')).toEqual([
        'SYSTEM           TOOL  ENABLED  DESCRIPTION',
        'Inventory tools  echo  yes      Says it again',
        'Inventory tools  wait  no',
      ]);
      const on = await inside(['tools', 'app', versionId, '--enable', 'inventory/wait']);
      expect(on.output).toMatch(/wait +yes$/m);
      const missing = await inside(['tools', 'app', versionId, '--enable', 'wait']);
      expect(missing).toMatchObject({ status: 2, errors: 'Name the tool as SYSTEM/TOOL.' });
      const refused = async (tool: string, version = versionId): Promise<string> => {
        const { status, errors } = await inside(['tools', 'app', version, '--disable', tool]);
        expect(status).toBe(2);
        return errors;
      };
      expect(await refused('Inventory tools/ecko')).toBe(
        'There is no tool Inventory tools/ecko: Inventory tools has no tool with that name. Did you mean "echo"?',
      );
      expect(await refused('Inventory toolz/echo')).toBe(
        'There is no tool Inventory toolz/echo: there is no MCP system Inventory toolz. Did you mean "Inventory tools"?',
      );
      expect(await refused('Inventory tools/echo', 'v-none')).toContain('or there is no such version.');
    } finally {
      await server?.close();
    }
  });

  it('tests connections before the commit, and commits nothing if one fails', async () => {
    const path = join(folder, 'connected');
    await inside(['init', path]);
    const server = await startToolListPeer([{ name: 'echo', inputSchema: { type: 'object' } }]);
    try {
      await mkdir(join(path, 'systems'));
      const system = { resourceName: 'everything', name: 'Everything', type: 'MCP' };
      const deliver = (versionId: string) =>
        inside(['deliver', path, '--version', versionId, '--test-connections', '--commit', '--json']);
      const file = join(path, 'systems/everything.json');
      await writeFile(file, JSON.stringify({ ...system, baseUrl: 'http://127.0.0.1:9/mcp' }));
      const failed = await deliver('v1');
      expect(failed).toMatchObject({
        status: 1,
        errors: expect.stringContaining('a connection test failed') as string,
      });
      expect(JSON.parse(failed.output)).toMatchObject({
        package: 'stored',
        committed: false,
        connections: [{ system: 'Everything', status: 500 }],
      });

      await writeFile(file, JSON.stringify({ ...system, baseUrl: server.url }));
      const passed = await deliver('v1');
      expect(passed).toMatchObject({ status: 0, errors: '' });
      expect(JSON.parse(passed.output)).toMatchObject({
        committed: true,
        connections: [{ status: 200, message: 'Connection successful (1 tools)' }],
      });
      expect((await inside(['tools', 'connected', 'v1'])).output).toContain('Everything  echo');
      const off = await inside(['tools', 'connected', 'v1', '--disable', 'everything/echo']);
      expect(off.output).toMatch(/^Everything {2}echo +no$/m);
    } finally {
      await server.close();
    }
  });

  it('watches a folder, activates each change and reports problems', async () => {
    const watchedId = uniqueName('watched');
    const path = join(folder, watchedId);
    await inside(['init', path]);
    const file = join(path, 'processes/greeting.bpmn');
    const whole = await readFile(file, 'utf8');
    const env = { ...process.env, SVC_URL: app.url, SVC_TOKEN: token };
    const child = spawn(process.execPath, ['dist/src/evaluation/svc.cli.js', 'watch', path], { env });
    const ended = once(child, 'close');
    let output = '';
    let messages = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (messages += text));
    const activeBuilds = () => output.match(/^active build .+$/gm) ?? [];
    try {
      await expect.poll(activeBuilds).toHaveLength(1);
      await writeFile(file, whole.replace('action="save_name"', 'action="gone"'));
      await expect.poll(() => output).toContain('UI action "tell" names "gone"');
      await writeFile(file, whole.replace('Hello', 'Good day'));
      // Backup files of editors are ignored.
      await writeFile(`${file}~`, whole);
      await writeFile(join(path, 'processes/#greeting.bpmn#'), whole);
      await expect.poll(activeBuilds).toHaveLength(2);
    } finally {
      child.kill('SIGINT');
    }
    expect(await ended).toEqual([0, null]);
    expect(messages).toMatch(/^\d\d:\d\d:\d\d active; waiting for a change; press Ctrl-C to stop$/m);
    expect(output).not.toContain('FILE_UNKNOWN');

    await writeFile(join(path, 'notes.docx'), 'not part of the package');
    const again = spawn(process.execPath, ['dist/src/evaluation/svc.cli.js', 'watch', path], { env });
    let second = '';
    again.stderr.setEncoding('utf8').on('data', (text: string) => (second += text));
    try {
      await expect.poll(() => second).toContain('the active build has this content');
    } finally {
      again.kill('SIGINT');
    }
    await once(again, 'close');
    const { output: info } = await inside(['start', watchedId, 'greeting', '--json']);
    const { uuid, buildId } = JSON.parse(info) as { uuid: string; buildId: string };
    expect(activeBuilds().at(-1)).toBe(`active build ${buildId}`);
    await inside(['act', uuid, 'tell', '--data', '{ "name": "Ada" }']);
    expect((await inside(['show', uuid])).output).toContain('"greeting": "Good day Ada"');
  });

  it('retries after a failure when a file is saved, even if unchanged', async () => {
    const path = join(folder, uniqueName('waiting'));
    await inside(['init', path]);
    await mkdir(join(path, 'systems'), { recursive: true });
    const server = await startToolListPeer([{ name: 'echo', inputSchema: { type: 'object' } }]);
    const { port } = new URL(server.url);
    await server.close();
    const system = JSON.stringify({
      resourceName: 'tools',
      name: 'Tools',
      type: 'MCP',
      baseUrl: `http://127.0.0.1:${port}/mcp`,
      authorization: { type: 'NO_AUTH' },
    });
    const file = join(path, 'systems/tools.json');
    await writeFile(file, system);
    const env = { ...process.env, SVC_URL: app.url, SVC_TOKEN: token };
    const child = spawn(process.execPath, ['dist/src/evaluation/svc.cli.js', 'watch', path], { env });
    const ended = once(child, 'close');
    let messages = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (messages += text));
    const failures = () => messages.match(/ not active; /g) ?? [];
    try {
      await expect.poll(failures).toHaveLength(1);
      await writeFile(file, system);
      await expect.poll(failures).toHaveLength(2);
    } finally {
      child.kill('SIGINT');
    }
    expect(await ended).toEqual([0, null]);
  });

  it('lists incidents, and continues a stopped instance', async () => {
    const stopping = uniqueName('stopping');
    const path = join(folder, stopping);
    await inside(['init', path]);
    const way = 'start>a a>known known>one[name == "Bob"] known>two[name == "Eve"]';
    const ends = [node('endEvent', 'one'), node('endEvent', 'two'), flows(way)];
    const content = [node('startEvent', 'start'), userTask('a'), node('exclusiveGateway', 'known'), ...ends];
    await writeFile(join(path, 'processes/stops.bpmn'), processFile('stops', content.join('\n')));
    const delivered = await inside(['deliver', path, '--version', 'v1', '--commit', '--build', '--activate']);
    expect(delivered).toMatchObject({ status: 0 });
    const { output } = await inside(['start', stopping, 'stops', '--json']);
    const { uuid } = JSON.parse(output) as { uuid: string };
    expect((await inside(['incidents', '--app', stopping])).output.split('\n')).toHaveLength(1);
    const acted = await inside(['act', uuid, ui('a'), '--data', '{ "name": "Ada" }']);
    expect(acted).toMatchObject({ status: 1, errors: expect.stringMatching(/^409: /) as string });
    const listed = await inside(['incidents', '--app', stopping, '--json']);
    expect(JSON.parse(listed.output)).toMatchObject([{ processInstanceUuid: uuid, bpmnElementId: 'known' }]);
    expect(await inside(['retry', uuid])).toMatchObject({
      status: 1,
      errors: '409: There is nothing to retry: execute the UI action again.',
    });
    const again = await inside(['act', uuid, ui('a'), '--data', '{ "name": "Bob" }']);
    expect(again).toMatchObject({ status: 0, output: expect.stringContaining('FINISHED') as string });
    const nothing = await inside(['retry', uuid, '--json']);
    expect(JSON.parse(nothing.output)).toMatchObject({ uuid, retriedIncidents: [], notRetried: [] });
    expect((await inside(['retry', uuid])).output).toMatch(
      /not retried: 0\nThe instance has no incident to retry\.$/,
    );
  });

  it('filters and counts incidents, and retries with corrected data', async () => {
    const failing = uniqueName('failing');
    const path = join(folder, failing);
    await inside(['init', path]);
    await mkdir(join(path, 'workflows'));
    const score = serviceTask('score', [{ name: 'run', kind: 'startWorkflow', workflow: 'picking' }]);
    const way = flows('start>score score>a a>end');
    const content = [node('startEvent', 'start'), score, userTask('a'), node('endEvent', 'end'), way];
    await writeFile(join(path, 'processes/scoring.bpmn'), processFile('scoring', content.join('\n')));
    const conditions = [{ id: 'c', expression: 'amount > 1', nextNodeId: 'end', order: 1, isDefault: false }];
    const pick = { id: 'pick', type: 'CONDITION', conditions, outgoingSequences: [sequence('pick', 'end')] };
    const outside = '<bpmn:error id="no" errorCode="REJECTED"/>';
    const definition = '<bpmn:errorEventDefinition errorRef="no"/>';
    const inner = [node('startEvent', 'in'), node('endEvent', 'bad', definition), flows('in>bad')];
    const throwing = [
      node('startEvent', 'start'),
      node('subProcess', 'sub', inner.join('')),
      node('boundaryEvent', 'caught', definition, 'attachedToRef="sub"'),
      node('endEvent', 'end'),
      flows('start>sub sub>end caught>end'),
    ];
    const thrown = processFile('throwing', throwing.join('\n'), { outside });
    await writeFile(join(path, 'processes/throwing.bpmn'), thrown);
    await writeFile(join(path, 'workflows/picking.json'), JSON.stringify(workflowOf('picking', [pick])));
    const delivered = await inside(['deliver', path, '--version', 'v1', '--commit', '--build', '--activate']);
    expect(delivered).toMatchObject({ status: 0 });
    const many = '{ "amount": "many" }';
    const { output } = await inside(['start', failing, 'scoring', '--data', many, '--json']);
    const { uuid } = JSON.parse(output) as { uuid: string };
    const list = async (...filters: string[]): Promise<unknown> =>
      JSON.parse((await inside(['incidents', '--app', failing, '--json', ...filters])).output);

    await expect
      .poll(() => list('--process', 'scoring', '--element', 'score'))
      .toMatchObject([
        { processInstanceUuid: uuid, state: 'OPEN', workflowRunId: expect.any(String) as string },
      ]);
    expect(await list('--element', 'a')).toEqual([]);
    const traced = (await inside(['trace', uuid])).output;
    expect(traced).toMatch(/ NODE_ENTERED +start( |$)/m);
    expect(traced).toMatch(/ INCIDENT_RAISED WORKFLOW +score( |$)/m);
    expect(traced).toMatch(/^run \S+ of picking: FAILED CONDITION_FAILED$/m);
    const other = await inside(['start', failing, 'throwing', '--json']);
    const { uuid: throwingUuid } = JSON.parse(other.output) as { uuid: string };
    expect((await inside(['trace', throwingUuid])).output).toMatch(/ ERROR_THROWN REJECTED +bad( |$)/m);
    expect(await list('--counts')).toMatchObject({
      counts: [{ applicationId: failing, bpmnElementId: 'score', open: 1 }],
      complete: true,
    });
    expect((await inside(['show', uuid])).output).toMatch(
      /^WORKFLOW +score +.+ \(pick: .*The expression "amount > 1" failed/m,
    );
    expect((await inside(['incidents', '--app', failing, '--counts'])).output).toMatch(
      /^OPEN +APPLICATION .*\n1 /,
    );
    const corrected = await inside(['retry', uuid, '--data', '{ "amount": 7 }']);
    expect(corrected).toMatchObject({ status: 0, output: expect.stringContaining('retried: 1') as string });
    expect((await inside(['trace', uuid])).output).toMatch(/^\d+ corrected amount: "many" -> 7$/m);
    expect(corrected.output.split('\n')[1]).toContain(`Check with: svc show ${uuid}`);
    expect(corrected.output.split('\n')[2]).toContain('continues with its original data');
    expect(await list('--state', 'RETRIED')).toMatchObject([{ processInstanceUuid: uuid }]);
    expect(await list()).toEqual([]);
    expect(await inside(['incidents', '--app', failing, '--limit', '9999'])).toMatchObject({
      status: 0,
      errors: 'No matching incidents.',
    });
    const shown = await inside(['show', uuid, '--json']);
    expect(JSON.parse(shown.output)).toMatchObject({ data: { amount: 7 } });
    expect(await inside(['retry', uuid, '--data', '{ "amount": 8 }'])).toMatchObject({
      status: 2,
      errors: 'The instance has no incident to retry, so its data was not changed.',
    });
  });

  it('follows an instance', async () => {
    const path = join(folder, appId);
    await inside(['init', path]);
    await inside(['deliver', path, '--version', 'v1', '--commit', '--build', '--activate']);
    const started = await inside(['start', appId, 'greeting', '--json']);
    const { uuid } = JSON.parse(started.output) as { uuid: string };
    const following = run('show', uuid, '--follow', '--json');
    await inside(['act', uuid, 'tell', '--data', '{ "name": "Ada" }']);
    const { status, output } = await following;
    const events = output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event);
    expect([status, events[0], events.at(-1)]).toEqual([0, 'instance', 'end']);
  });

  it('reports rejections and an unreachable service', async () => {
    expect(await inside(['show', GONE])).toEqual({
      status: 1,
      output: '',
      errors: '404: Process instance not found.',
    });
    const away = await inside(['show'], { SVC_URL: 'http://127.0.0.1:9' });
    expect(away).toMatchObject({ status: 1 });
    expect(away.errors).toMatch(/^No answer from http:\/\/127\.0\.0\.1:9/);
    const open = await inside(['show'], { SVC_URL: 'http://svc.example.com' });
    expect(open.errors).toContain('only over https');
  });

  it.each<[string[], string]>([
    [['nope'], "unknown command 'nope'"],
    [['shwo'], 'Did you mean show?'],
    [['start', 'app'], "missing required argument 'process'"],
    [['show', '--limit', 'all'], 'It must be a whole number from 1 to 999.'],
    [['deliver', 'x'], "required option '--version <id>' not specified"],
    [['deliver', 'x', '--verison', 'v1'], 'Did you mean --version?'],
    [['tools', 'app', 'v-none'], 'There is no version v-none of app.'],
    [['deliver', 'x', '--version', 'v1', '--library', 'lib'], '--library must be APP=BUILD'],
    [['start', 'app', 'p', '--data', '[]'], '--data must be a JSON object'],
    [['start', 'app', 'p', '--data', '{"a": 3,}'], 'Not JSON: '],
    [['start', 'app', 'p', '--data', '{"a": 9007199254740993}'], '9007199254740993 would be rounded'],
    [['start', 'app', 'p', '--data', '@nowhere.json'], '--data: the file nowhere.json does not exist'],
    [['init', '/tmp/ä b'], 'Set it with --app'],
    [['incidents', '--state', 'CLOSED'], 'Allowed choices are OPEN, RESOLVED, RETRIED'],
    [['incidents', '--counts', '--state', 'RETRIED'], '--counts applies to open incidents'],
    [['retry', GONE, '--data', '7'], '--data must be a JSON object'],
    [['completion', 'cmd'], 'Allowed choices are bash, zsh'],
  ])('rejects the command line %j', async (args, message) => {
    const { status, errors } = await inside(args);
    expect({ status, errors }).toEqual({ status: 2, errors: expect.stringContaining(message) as string });
  });

  it('requires a URL and a token', async () => {
    const noToken = await inside(['show', '--url', app.url], { SVC_TOKEN: '' });
    expect(noToken).toMatchObject({
      status: 2,
      errors: expect.stringContaining('A token is required') as string,
    });
    const nothing = await inside(['show'], { SVC_TOKEN: '', SVC_URL: '' });
    expect(nothing).toMatchObject({
      status: 2,
      errors: expect.stringContaining('SVC_URL or --url') as string,
    });
  });

  it('completes commands and options in a shell', async () => {
    const { output } = await inside(['completion', 'bash']);
    const complete = (words: string, at: number): Promise<string> =>
      new Promise((resolve) => {
        const script = `${output}\nCOMP_WORDS=(${words}) COMP_CWORD=${at}; _svc; echo "\${COMPREPLY[@]}"`;
        execFile('bash', ['-c', script], (_, text) => resolve(text.trim()));
      });
    expect(await complete('svc st', 1)).toBe('start');
    expect(await complete('svc act --d', 2)).toBe('--data');
  });
});
