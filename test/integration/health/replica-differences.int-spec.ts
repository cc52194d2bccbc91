import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import { WriteProofEntity } from '../../../src/store/write-proof.entity.js';
import { ReplicaDifferences } from '../../../src/health/replica-differences.js';
import { TestApp } from '../../support/app.js';
import { eventually } from '../../support/runtime/runtime-client.js';

/** Two slots, because the replica under test may occupy one of them. */
const SLOTS = [1, 2];

let other: TestApp;
let app: TestApp | undefined;
beforeAll(async () => {
  other = await TestApp.start({ EGRESS_ALLOW: '10.20.30.0/24' });
});
afterEach(() => app?.close());
afterAll(() => other.close());

type Facts = ReplicaDifferences['facts'];
const proofs = () => other.dataSource.getRepository(WriteProofEntity);
/** Starts a replica next to others that wrote these facts. Returns its readiness, log entries and metrics. */
const readinessAmong = async (settings: Record<string, string>, facts: (own: Facts) => Facts) => {
  app = await TestApp.start({ OIDC_ISSUER: other.issuer.url, EGRESS_ALLOW: '10.20.30.0/24', ...settings });
  const written = facts(app.nest.get(ReplicaDifferences).facts);
  await proofs().clear();
  await proofs().insert(SLOTS.map((slot) => ({ slot, writtenAt: new Date(), ...written })));
  const [warn, info] = [vi.spyOn(app.nest.get(Log), 'warn'), vi.spyOn(app.nest.get(Log), 'info')];
  const started = app;
  const { status, body } = await eventually(
    () => started.request('GET', '/readyz', { token: null }),
    (answer) => answer.status === 200,
  );
  await app.nest.get(ReplicaDifferences).check(0);
  const logged = [...warn.mock.calls, ...info.mock.calls].filter(([message]) =>
    message.startsWith('replicas'),
  );
  return { status, body, logged, metrics: await app.nest.get(Metrics).registry.metrics() };
};

describe('replicas of one database', () => {
  it('report no difference if release and settings are equal', async () => {
    const { status, body, logged, metrics } = await readinessAmong(
      {},
      () => other.nest.get(ReplicaDifferences).facts,
    );
    expect([status, body]).toEqual([200, { status: 'ok' }]);
    expect(logged).toEqual([]);
    expect(metrics).toContain('svc_replicas_differing{in="settings"} 0');
  });

  it.each([
    ['EGRESS_ALLOW', '10.20.30.0/25'],
    ['PERMISSION_RULES', '{}'],
    ['TOOL_CHANGE_POLICY', 'accept'],
    ['PROCESS_MESSAGE_ONE_RECEIVER', 'true'],
    ['HTTP_REQUIRE_IF_MATCH', 'true'],
    ['LLM_BASE_URL', 'https://model.example.com/v1'],
    ['DISCOVERY_SOURCES', '{"dns":{"domains":["svc.example.com"]}}'],
  ])('stay ready and report that another replica has other settings: %s', async (name, value) => {
    const facts = other.nest.get(ReplicaDifferences).facts;
    const { status, body, logged, metrics } = await readinessAmong({ [name]: value }, () => facts);
    expect([status, body]).toEqual([200, { status: 'ok', differs: ['settings'] }]);
    expect(logged).toMatchObject([['replicas differ', { differs: 'settings', release: 0 }]]);
    expect(metrics).toMatch(/svc_replicas_differing\{in="settings"\} [12]\n/);
    const stored = JSON.stringify(await proofs().find());
    expect(stored).not.toContain('10.20.30');
  });

  it('report that another replica has another release', async () => {
    const { body, logged } = await readinessAmong({}, (own) => ({ ...own, serviceRelease: '0.0.9' }));
    expect(body).toEqual({ status: 'ok', differs: ['release'] });
    expect(logged).toHaveLength(1);
  });

  it('clear their facts when they stop', async () => {
    await readinessAmong({}, (own) => own);
    const own = app!;
    app = undefined;
    await proofs().clear();
    await own.nest.get(ReplicaDifferences).check(SLOTS[0]!);
    await proofs().insert({
      slot: SLOTS[0]!,
      writtenAt: new Date(),
      ...own.nest.get(ReplicaDifferences).facts,
    });
    await own.close();
    expect(await proofs().find()).toMatchObject([{ settingsHash: null, serviceRelease: null }]);
  });
});
