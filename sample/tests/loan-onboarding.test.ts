import {
  startTestService,
  type McpStub,
  type TestApplication,
  type TestInstance,
  type TestService,
} from '@svc/client/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const AFFORDABLE = { amount: 20_000, months: 48, income: 5_200 };

describe('loan_onboarding', () => {
  let service: TestService;
  let loans: TestApplication;
  let everything: McpStub;

  beforeAll(async () => {
    service = await startTestService();
    everything = await service.mcpStub({
      'get-sum': {
        description: 'Adds two numbers.',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        },
        answers: ({ a, b }) => `The sum is ${Number(a) + Number(b)}.`,
      },
    });
    const library = await service.deliver('sample/library');
    loans = await service.deliver('sample/application', { systems: { everything }, libraries: [library] });
  });
  afterAll(() => service.stop());
  beforeEach(() => everything.forget());

  /** Starts an instance and submits the client's application. */
  async function startApplied(application: object): Promise<TestInstance> {
    const loan = await loans.start('loan_onboarding', { client: { name: 'Ada Example' } });
    await loan.isAt('complete_application');
    await loan.act('submit_application', { application });
    return loan;
  }

  test('grants a loan that the client can afford and accepts', async () => {
    const loan = await startApplied(AFFORDABLE);
    await loan.isAt('reflection');
    await service.advance('PT2S');
    await loan.isAt('review_offer');
    await loan.act('accept_offer');
    await loan.hasEnded();
    await loan.hasData({
      rating: { risk: 'low' },
      registration: { client: 'Ada Example', amount: 20_000 },
      decision: { granted: true },
    });
    await loan.hasPassed('grant_loan');
  });

  test('registers the application after exactly two seconds', async () => {
    const loan = await startApplied(AFFORDABLE);
    await service.advance('PT1.5S');
    await loan.isAt('reflection');
    await service.advance('PT0.5S');
    await loan.isAt('review_offer');
  });

  test('declines a loan whose payments take too much of the income', async () => {
    const loan = await startApplied({ ...AFFORDABLE, income: 500 });
    await service.advance('PT2S');
    await loan.hasEnded();
    await loan.hasData({ rating: { risk: 'high' }, decision: { granted: false } });
  });

  test('lets an offer lapse after two weeks', async () => {
    const loan = await startApplied(AFFORDABLE);
    await service.advance('P13DT23H');
    await loan.isAt('review_offer');
    await service.advance('PT1H2S');
    await loan.hasEnded();
    await loan.hasPassed('offer_lapsed');
  });

  test('asks the agent for advice if the client wants it', async () => {
    await service.model([
      {
        when: { prompt: '"amount":\\s*(?<amount>\\d+).*"fee":\\s*(?<fee>\\d+)', notCalled: ['get-sum'] },
        calls: [{ tool: 'get-sum', arguments: { a: '${amount}', b: '${fee}' } }],
      },
      { when: { results: { 'get-sum': 'is (?<total>\\d+)' } }, answers: { total: '${total}' } },
    ]);
    const loan = await startApplied({ ...AFFORDABLE, advice: true });
    await service.advance('PT2S');
    await loan.isAt('review_offer');
    everything.wasCalled('get-sum', { a: 20_000, b: 200 });
    await loan.hasData({ advice: { total: 20_200 } });
  });

  test('stops with an incident while the model has no answer, and continues after a retry', async () => {
    await service.model([{ when: { prompt: 'nothing like this' }, answers: {} }]);
    const loan = await startApplied({ ...AFFORDABLE, advice: true });
    await service.advance('PT2S');
    await loan.hasIncident('AGENT_MODEL_FAILED', 'advise_client');
    await expect(loan.hasNoIncident()).rejects.toThrow('rules.0: "prompt" does not match.');
    everything.wasNotCalled('get-sum');

    await service.model([{ answers: { total: 1 } }]);
    await loan.retry();
    await loan.hasNoIncident();
    await loan.isAt('review_offer');
  });
});
