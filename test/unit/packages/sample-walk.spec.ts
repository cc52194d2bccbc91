import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#engine/json';
import { readPackageFolder } from '../../../src/delivery/packages/reading/package-folder.js';
import type { PackageWorkflow } from '../../../src/delivery/packages/model/package.types.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { type ProcessGraph } from '#engine/definitions';
import type { RunScope } from '../../../src/runtime/calls/workflows/model/node-executor.js';
import { BUILT_IN_EXECUTORS } from '../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { RunJournal } from '../../../src/runtime/calls/workflows/journal/run-journal.js';
import { WorkflowRunner } from '../../../src/runtime/calls/workflows/runs/workflow-runner.js';
import { MemoryEngine, type MemoryInstance } from '../../../packages/engine/test/support/memory-engine.js';
import { settings } from './package-fixture.js';

const CLIENT = { client: { name: 'Jane Doe', email: 'jane.doe@example.com' } };
const AFFORDABLE = { application: { amount: 12_000, months: 24, income: 3_200 } };
const WITH_ADVICE = { application: { ...AFFORDABLE.application, advice: true } };
const WITHOUT_ADVICE = { application: { ...AFFORDABLE.application, advice: false } };
const TOO_MUCH = { application: { amount: 90_000, months: 12, income: 3_200 } };
const DAY_MS = 86_400_000;

let graphs: ProcessGraph[];
let rating: PackageWorkflow;
/** Results of the rating workflow, computed in advance because the test engine is synchronous. */
const ratings = new Map<string, JsonValue>();

async function rate(input: JsonObject): Promise<JsonValue> {
  const scope: RunScope = {
    runId: 'run',
    buildId: 'build',
    payer: { appId: 'app', caller: null },
    appId: null,
    calls: { once: (_call, make) => make() },
    predefined: { processInstanceId: 'p', parentProcessInstanceId: null },
    signal: new AbortController().signal,
    budget: { nodesLeft: 100 },
    subworkflow: () => Promise.reject(new Error('no subworkflow was expected')),
  };
  const journal = new RunJournal();
  const tools = { executors: BUILT_IN_EXECUTORS, now: () => new Date(0) };
  const { output } = await new WorkflowRunner(rating, input, scope, journal, tools).run();
  return output;
}

beforeAll(async () => {
  const env = settings();
  const service = new PackagesService(env);
  const compiled = async (folder: string, appId: string, libraries: ProcessGraph[] = []) => {
    const { document } = await readPackageFolder(folder);
    const library = { appId: 'sample-library', buildId: 'named-at-delivery', workflows: [], systems: [] };
    const context = { appId, libraries: [{ ...library, processes: libraries }] };
    return (await service.check(service.parse(document).package!, context)).checked!;
  };
  const library = (await compiled('sample/library', 'sample-library')).processes.flatMap(
    ({ graphs }) => graphs,
  );
  const application = await compiled('sample/application', 'sample', library);
  graphs = [...library, ...application.processes.flatMap(({ graphs }) => graphs)];
  rating = application.workflows.find(({ name }) => name === 'rate_application')!;
  for (const input of [AFFORDABLE, WITH_ADVICE, WITHOUT_ADVICE, TOO_MUCH]) {
    ratings.set(JSON.stringify(input), await rate(input));
  }
});

/** Starts a loan onboarding. */
function started(): { engine: MemoryEngine; instance: MemoryInstance } {
  const engine = new MemoryEngine(...graphs);
  engine.workflows.set('rate_application', (input) => ({
    output: ratings.get(JSON.stringify(input)) ?? null,
  }));
  return { engine, instance: engine.start('loan_onboarding', CLIENT) };
}

/** Executes the UI action with this name on the token at which it is available. */
function act(engine: MemoryEngine, instance: MemoryInstance, name: string, body: JsonObject = {}): void {
  for (const token of instance.state.tokens.values()) {
    const action = engine.open(instance, token).find((open) => open.name === name);
    if (action !== undefined) {
      engine.step(instance, { kind: 'UI_ACTION', tokenId: token.id, uiActionSvcUuid: action.svcUuid, body });
      return;
    }
  }
  throw new Error(`UI action "${name}" is not available.`);
}

const openNames = (engine: MemoryEngine, instance: MemoryInstance) =>
  [...instance.state.tokens.values()].flatMap((token) =>
    engine.open(instance, token).map(({ name, back }) => `${name}${back ? ' (back)' : ''}`),
  );

describe('the loan onboarding of the sample', () => {
  it('grants an affordable loan', () => {
    const { engine, instance } = started();
    expect(openNames(engine, instance)).toEqual(['submit_application']);
    act(engine, instance, 'submit_application', AFFORDABLE);
    engine.advance(3_000);
    expect(engine.incidents).toEqual([]);
    expect(openNames(engine, instance)).toEqual(['accept_offer', 'submit_application (back)']);
    expect(instance.state.data).toEqual({
      ...CLIENT,
      ...AFFORDABLE,
      rating: { risk: 'low', monthly: 500 },
      credit: { score: 720, client: 'Jane Doe' },
      registration: { client: 'Jane Doe', amount: 12_000 },
    });
    act(engine, instance, 'accept_offer');
    engine.run();
    expect(instance.state.state).toBe('FINISHED');
    expect(instance.state.data).toMatchObject({
      offer: { accepted: true },
      decision: { granted: true, monthly: 500 },
    });
  });

  it('gets advice from an agent if the client wants it', () => {
    const { engine, instance } = started();
    const advice = { total: 12_120, sentence: 'You pay back 12120 in all.' };
    engine.workflows.set('advise_client', (input) => ({
      output: JSON.stringify(input) === JSON.stringify({ ...CLIENT, ...WITH_ADVICE }) ? advice : null,
    }));
    act(engine, instance, 'submit_application', WITH_ADVICE);
    engine.advance(3_000);
    expect(engine.incidents).toEqual([]);
    expect(instance.state.data).toMatchObject({ advice });
    act(engine, instance, 'submit_application', WITHOUT_ADVICE);
    act(engine, instance, 'submit_application', WITHOUT_ADVICE);
    engine.advance(3_000);
    expect(openNames(engine, instance)).toContain('accept_offer');
    expect(instance.state.data).not.toHaveProperty('advice');
  });

  it('declines a loan that is not affordable', () => {
    const { engine, instance } = started();
    act(engine, instance, 'submit_application', TOO_MUCH);
    engine.advance(3_000);
    expect(engine.incidents).toEqual([]);
    expect(instance.state.state).toBe('FINISHED');
    expect(instance.state.data).toMatchObject({
      rating: { risk: 'high', monthly: 7_500 },
      credit: { score: 540 },
      decision: { granted: false },
    });
  });

  it('can go back to the application while the offer is open, and discards its results', () => {
    const { engine, instance } = started();
    act(engine, instance, 'submit_application', AFFORDABLE);
    engine.advance(3_000);
    act(engine, instance, 'submit_application', TOO_MUCH);
    expect(openNames(engine, instance)).toEqual(['submit_application']);
    expect(instance.state.data).toEqual({ ...CLIENT, ...TOO_MUCH });
    act(engine, instance, 'submit_application', AFFORDABLE);
    engine.advance(3_000);
    act(engine, instance, 'accept_offer');
    engine.run();
    expect(engine.incidents).toEqual([]);
    expect(instance.state.state).toBe('FINISHED');
  });

  it('lets the offer lapse after two weeks', () => {
    const { engine, instance } = started();
    act(engine, instance, 'submit_application', AFFORDABLE);
    engine.advance(15 * DAY_MS);
    expect(engine.incidents).toEqual([]);
    expect(instance.state.state).toBe('FINISHED');
    expect(instance.state.data).not.toHaveProperty('decision');
  });

  it('rejects an application that cannot be rated', async () => {
    await expect(rate({ application: { amount: 1, months: 0, income: 1 } })).rejects.toMatchObject({
      code: 'WORKFLOW_INPUT_INVALID',
    });
  });
});
