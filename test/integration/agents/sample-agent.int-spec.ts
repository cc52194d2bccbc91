import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svc } from '../../../packages/client/src/command-line/svc.command.js';
import { readModelScript } from '../../../src/evaluation/scripted-model/model-script.js';
import { ScriptedModel } from '../../../src/evaluation/scripted-model/scripted-model.server.js';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, detailsPath, listPath, toolPath } from '../../support/factories.js';
import { startEverything, type ProcessPeer } from '../../support/peers/official.peers.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import { limitedEnv } from '../../support/limits/limits.js';

const APP = 'sample';
const VERSION = 'v1';
const APPLICATION = { application: { amount: 20_000, months: 48, income: 5_200, advice: true } };

interface Instance extends Record<string, unknown> {
  data: Record<string, unknown>;
  incidents: { message: string }[];
  tokens: { uuid: string; uiActions?: { name: string; svcUuid: string }[] }[];
}

interface Call {
  kind: string;
  outcome: string | null;
  request: Record<string, unknown>;
  response: Record<string, unknown>;
}

describe('the agent of the sample, with the model of evaluation mode and the official MCP server', () => {
  let app: TestApp;
  let model: ScriptedModel;
  let server: ProcessPeer;
  let token: string;
  let buildId: string;
  beforeAll(async () => {
    model = await ScriptedModel.start(await readModelScript('sample/model.json'));
    server = await startEverything('streamableHttp');
    app = await TestApp.start({ LLM_BASE_URL: model.url, LLM_MODEL: model.name, 'jobLimits.pollMs': '20' });
    token = await app.issuer.sign({});
    const [library] = await delivered('sample/library', 'sample-library', '--commit', '--build');
    const application = ['--library', `sample-library=${library}`, '--base-url', `everything=${server.url}`];
    await delivered('sample/application', APP, ...application);
    await app.request('PATCH', connectionTestPath(APP, VERSION), {
      body: { baseUrl: server.url, authorization: { type: 'NO_AUTH' } },
    });
    [buildId = ''] = await delivered('sample/application', APP, ...application, '--commit', '--build');
  });
  afterAll(async () => {
    await app.close();
    await model.close();
    await server.close();
  });

  /** Delivers a folder to version v1. Returns the id of the build, if one is made. */
  async function delivered(folder: string, appId: string, ...options: string[]): Promise<string[]> {
    const lines: string[] = [];
    const errors: string[] = [];
    await svc(['deliver', folder, '--app', appId, '--version', VERSION, '--url', app.url, ...options], {
      env: limitedEnv('maintenance', { SVC_TOKEN: token }),
      print: (line) => lines.push(line),
      printError: (line) => errors.push(line),
      pathOf: (path) => path,
      readInput: () => Promise.resolve(''),
      untilStopped: () => new AbortController().signal,
    });
    expect(errors).toEqual([]);
    return lines.flatMap((line) => /^build (\S+)$/.exec(line)?.[1] ?? []);
  }

  const instance = async (uuid: string): Promise<Instance> =>
    (await app.request<Instance>('GET', instancePath(uuid))).body;

  /** Executes a UI action once it is available. Fails if the instance gets an incident first. */
  async function act(uuid: string, name: string, body: object): Promise<Instance> {
    const open = ({ tokens }: Instance) =>
      tokens.flatMap(({ uuid: at, uiActions = [] }) =>
        uiActions.filter((action) => action.name === name).map(({ svcUuid }) => ({ at, svcUuid })),
      )[0];
    const found = await eventually(
      () => instance(uuid),
      (now) => open(now) !== undefined || now.incidents.length > 0,
    );
    expect(found.incidents).toEqual([]);
    const { at, svcUuid } = open(found)!;
    await executed(app, uuid, at, svcUuid, body);
    return found;
  }

  /** Runs the process for a client who wants advice. Returns the data before the offer is accepted and the agent's trace. */
  async function advised(): Promise<{ uuid: string; data: Record<string, unknown>; calls: Call[] }> {
    const published = { appId: APP, buildId };
    const { uuid } = await started(app, published, 'loan_onboarding', { client: { name: 'Ada Example' } });
    await act(uuid, 'submit_application', APPLICATION);
    const { data } = await act(uuid, 'accept_offer', {});
    await eventually(
      () => instance(uuid),
      ({ state }) => state === 'FINISHED',
    );
    const query = `processInstanceUuid=${uuid}&workflow=advise_client`;
    const runs = await app.request<{ runs: { id: string }[] }>(
      'GET',
      `/rtm/api/runtime/workflow-run?${query}`,
    );
    const path = `/rtm/api/runtime/workflow-run/${runs.body.runs[0]?.id}/calls`;
    return { uuid, data, calls: (await app.request<{ calls: Call[] }>('GET', path)).body.calls };
  }

  it('calls two tools, and the process continues with its answer', async () => {
    const { uuid, data, calls } = await advised();
    expect(data['advice']).toEqual({ total: 20_200, sentence: 'You pay back 20200 in all.' });
    expect(calls.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      'MODEL OK',
      'TOOL OK',
      'MODEL OK',
      'TOOL OK',
      'MODEL OK',
    ]);
    expect(calls[1]?.request).toMatchObject({ tool: 'get-sum', arguments: { a: 20_000, b: 200 } });
    expect(JSON.stringify(calls[1]?.response)).toContain('The sum of 20000 and 200 is 20200.');

    const lines: string[] = [];
    const status = await svc(['trace', uuid], {
      env: limitedEnv('maintenance', { SVC_URL: app.url, SVC_TOKEN: token }),
      print: (line) => lines.push(line),
      printError: () => undefined,
      pathOf: (path) => path,
      readInput: () => Promise.resolve(''),
      untilStopped: () => new AbortController().signal,
    });
    expect(status).toBe(0);
    expect(lines).toContainEqual(
      expect.stringMatching(/m1\.t1 +TOOL +DONE .* OK +get-sum \{"a":20000,"b":200\}$/),
    );
  });

  it('continues without a tool that was disabled in the meantime, and its trace says why', async () => {
    const { body: listed } = await app.request<{
      systems: { type: string; resourceId: string; id: string }[];
    }>('GET', listPath(APP, VERSION));
    const { resourceId, id: systemId } = listed.systems.find(({ type }) => type === 'MCP')!;
    const { body: details } = await app.request<{ tools: { id: string; name: string }[] }>(
      'GET',
      detailsPath(resourceId, APP, VERSION),
    );
    const toolId = details.tools.find(({ name }) => name === 'echo')!.id;
    const path = toolPath({ resourceId, systemId, toolId }, APP, VERSION);
    expect((await app.request('PATCH', path, { body: { enabled: false } })).status).toBe(200);

    const { data, calls } = await advised();
    expect(data['advice']).toEqual({ total: 20_200 });
    expect(calls.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      'MODEL OK',
      'TOOL OK',
      'MODEL OK',
      'TOOL TOOL_DISABLED',
      'MODEL OK',
    ]);
    expect(calls[3]).toMatchObject({
      request: { tool: 'echo', arguments: { message: 'You pay back 20200 in all.' } },
      response: { ok: false, error: 'The tool was disabled by an administrator.' },
    });
  });
});
