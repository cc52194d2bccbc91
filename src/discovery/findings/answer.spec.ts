import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { component } from '../../../test/support/discovery/fake-platform.js';
import type { Component } from '../model/component.types.js';
import { PROBE_FAILURES, type ProbeFailure } from '../model/failures.js';
import type { ProbeFinding, ProbeWarning } from '../model/probe.js';
import { mergeListings } from './merge.js';
import { answerOf } from './answer.js';
import { versionOf } from './reported.js';
import type { CheckedComponent, DiscoveryResult, ProbeOutcome, ScanIssue } from '../model/scan.types.js';
import { compare } from './snapshot.js';

const CANARY = 'canary-4711';

function checked(of: Component, outcome: ProbeOutcome | ProbeFinding = {}, tookMs = 1): CheckedComponent {
  return {
    component: of,
    outcome: 'status' in outcome ? outcome : { status: 'healthy', finding: outcome },
    checkedAt: new Date(1_000),
    tookMs,
    timeoutMs: 100,
  };
}

function answer(components: CheckedComponent[], issues: ScanIssue[] = []): DiscoveryResult {
  const findings = {
    startedAt: new Date(0),
    finishedAt: new Date(2_000),
    durationMs: 2_345,
    components,
    issues,
  };
  return answerOf(findings, compare(null, components));
}

const infrastructure = (key: string, kind: Component['kind']): Component =>
  component(key, { map: 'infrastructure', kind });

describe('the answer', () => {
  it('has the fields of the contract for each kind of component', () => {
    const body = answer([
      checked(component('crm', { capabilities: ['b', 'a'], version: 'v2.1' })),
      checked(infrastructure('db', 'mysql'), {
        type: 'mariadb',
        version: '10.11.19-MariaDB',
        connections: { active: 1, idle: 2, max: 100 },
      }),
      checked(infrastructure('cache', 'redis'), {
        memory: { usedBytes: 966_400, availableBytes: 67_108_864 },
      }),
      checked(infrastructure('bus', 'kafka'), { brokers: 3, topics: 0 }),
      checked(component('store', { map: 'externalIntegrations', kind: 's3' }), { buckets: 0 }),
    ]);
    const lastHealthCheck = '1970-01-01T00:00:01.000Z';
    expect(body).toEqual({
      scanTimestamp: '1970-01-01T00:00:02.000Z',
      totalServices: 1,
      healthyServices: 1,
      unhealthyServices: 0,
      services: {
        crm: {
          name: 'crm',
          version: '2.1',
          status: 'healthy',
          endpoint: 'http://crm.example.com',
          capabilities: ['a', 'b'],
          lastHealthCheck,
        },
      },
      infrastructure: {
        db: {
          type: 'mariadb',
          version: '10.11.19',
          status: 'healthy',
          lastHealthCheck,
          connections: { active: 1, idle: 2, max: 100 },
        },
        cache: {
          type: 'redis',
          version: 'unknown',
          status: 'healthy',
          lastHealthCheck,
          memory: { used: '943.8KB', available: '64MB' },
        },
        bus: { type: 'kafka', version: 'unknown', status: 'healthy', lastHealthCheck, brokers: 3, topics: 0 },
      },
      externalIntegrations: {
        store: {
          name: 'store',
          status: 'healthy',
          endpoint: 'http://store.example.com',
          lastHealthCheck,
          buckets: 0,
        },
      },
      summary: {
        scanDuration: '2.3s',
        newServicesFound: 1,
        configurationChanges: 0,
        issuesDetected: 0,
        recommendations: [],
      },
      registered: {},
    });
  });

  it('is consistent for any outcomes of any components', () => {
    const warnings: ProbeWarning[] = [
      { code: 'degraded' },
      { code: 'connections_nearly_used', used: 9, max: 10 },
      { code: 'memory_nearly_used', percent: 90 },
      { code: 'memory_unlimited' },
      { code: 'broker_down', running: 2, expected: 3 },
      { code: 'under_replicated', partitions: 4 },
      { code: 'alarm' },
      { code: 'certificate_expires', days: 3 },
      { code: 'clock_differs', seconds: 45 },
      { code: 'plain_http' },
      { code: 'privilege_missing', privilege: 'pg_monitor' },
    ];
    const outcome = fc.oneof(
      fc.record({
        status: fc.constant('unhealthy' as const),
        failure: fc.constantFrom(...(Object.keys(PROBE_FAILURES) as ProbeFailure[])),
        detail: fc.constantFrom(null, 'ioredis', '; rm -rf'),
      }),
      fc.subarray(warnings).map((some): ProbeFinding => ({ warnings: some })),
    );
    const platform = fc.uniqueArray(
      fc.record({
        key: fc.stringMatching(/^[A-Za-z0-9_-]{1,3}$/),
        map: fc.constantFrom('services', 'infrastructure', 'externalIntegrations' as const),
        outcome,
        tookMs: fc.constantFrom(1, 51),
      }),
      { selector: ({ map, key }) => `${map} ${key}`, maxLength: 8 },
    );
    fc.assert(
      fc.property(platform, (entries) => {
        const body = answer(
          entries.map(({ key, map, outcome: end, tookMs }) => checked(component(key, { map }), end, tookMs)),
        );
        const { services, infrastructure: parts, externalIntegrations, summary } = body;
        const all = [services, parts, externalIntegrations].flatMap((map) => Object.values(map));
        expect(body.totalServices).toBe(body.healthyServices + body.unhealthyServices);
        expect(body.totalServices).toBe(Object.keys(services).length);
        expect(all.every(({ status, error }) => (status === 'unhealthy') === (error !== undefined))).toBe(
          true,
        );
        expect(summary.issuesDetected).toBeGreaterThanOrEqual(
          all.filter(({ status }) => status === 'unhealthy').length,
        );
        expect(summary.recommendations).toHaveLength(summary.issuesDetected);
        expect(new Set(summary.recommendations).size).toBe(summary.issuesDetected);
        expect(summary.recommendations).toEqual(summary.recommendations.toSorted());
        expect(summary.recommendations.join()).not.toMatch(/undefined|NaN|rm -rf/);
      }),
    );
  });

  it('names the command that installs a missing driver', () => {
    const outcome = { status: 'unhealthy', failure: 'driver', detail: 'ioredis' } as const;
    expect(answer([checked(infrastructure('cache', 'redis'), outcome)]).summary.recommendations).toEqual([
      'infrastructure.cache: The driver for this kind of component is not installed. Run: npm install ioredis',
    ]);
  });

  it('does not reveal credentials that a component echoes', () => {
    const credentials = { username: 'probe', password: CANARY, token: `${CANARY}-token` };
    const body = answer([
      checked(component('echo', { isNamed: false, credentials }), {
        name: `Echo ${CANARY}`,
        version: `1.0 ${CANARY}`,
        type: CANARY,
        capabilities: [`Bearer ${CANARY}-token`, 'search'],
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain(CANARY);
    expect(body.services['echo']).toMatchObject({
      name: 'echo',
      version: 'unknown',
      capabilities: ['search'],
    });
  });

  it('reports endpoints with several keys, and services of one name with different versions', () => {
    const endpoint = 'http://one.example.com';
    const { summary } = answer([
      checked(component('a', { endpoint, name: 'Billing' }), { version: '1.0' }),
      checked(component('b', { endpoint, name: 'Billing' }), { version: '1.1' }),
      checked(component('c', { endpoint, trust: 'registered' })),
    ]);
    expect(summary.recommendations).toEqual([
      'services.a, services.b: One endpoint has several keys. Keep one of them.',
      'services.a, services.b: Services of one name have different versions. Use the same version.',
    ]);
  });

  it('reports problems of sources', () => {
    const { summary } = answer(
      [],
      [
        { code: 'source_failed', source: 'configuration', failure: 'syntax', detail: 'line 3, column 7' },
        { code: 'rejected', source: 'dns', key: 'a\u001b[2J', reason: 'must be a name.' },
        { code: 'too_many', left: 5, max: 10 },
      ],
    );
    expect(summary.recommendations).toEqual([
      '5 components were skipped: a scan checks at most 10.',
      'Source configuration: The file is neither valid JSON nor valid YAML. (line 3, column 7) Fix it; until then the components that it last listed are checked.',
      'Source dns: a?[2J was skipped: must be a name. Correct its entry.',
    ]);
  });
});

describe('versionOf', () => {
  it.each([
    ['10.11.19-MariaDB', '10.11.19'],
    ['PostgreSQL 15.4 (Debian 15.4-1)', '15.4'],
    ['v2.0.1', '2.0.1'],
    ['v3', '3'],
    ['RELEASE.2024-01-16T16-07-38Z', '2024'],
    ['1.0.0rc1', '1.0.0'],
    ['3f2a9c', 'unknown'],
    ['', 'unknown'],
    [null, 'unknown'],
  ])('of %j is %s', (text, version) => {
    expect(versionOf(text)).toBe(version);
  });
});

describe('mergeListings', () => {
  const merge = (...listings: [Component['source'], Component[]][]): ReturnType<typeof mergeListings> =>
    mergeListings(
      listings.map(([source, components]) => ({ source, components })),
      10,
    );

  it('lets a later source win on a key of the same map', () => {
    const { components, issues } = merge(
      ['configuration', [component('a', { name: 'first' }), component('b')]],
      ['consul', [component('a', { name: 'second' }), component('a', { map: 'infrastructure' })]],
    );
    expect(components.map(({ map, key, name }) => `${map} ${key} ${name}`)).toEqual([
      'infrastructure a a',
      'services a second',
      'services b b',
    ]);
    expect(issues).toEqual([]);
  });

  it('does not let a registration replace a component that the operator configured', () => {
    const registered = component('a', { name: 'usurper', trust: 'registered', source: 'registered' });
    const { components, issues } = merge(['configuration', [component('a')]], ['registered', [registered]]);
    expect(components.map(({ name }) => name)).toEqual(['a']);
    expect(issues).toEqual([
      { code: 'duplicate', source: 'registered', component: { map: 'services', key: 'a' } },
    ]);
  });

  it('drops components registered by callers first if there are too many', () => {
    const named = (trust: 'operator' | 'registered', prefix: string) =>
      Array.from({ length: 8 }, (_, index) => component(`${prefix}${index}`, { trust }));
    const { components, issues } = merge(
      ['configuration', named('operator', 'z')],
      ['registered', named('registered', 'a')],
    );
    expect(components.filter(({ trust }) => trust === 'operator')).toHaveLength(8);
    expect(components).toHaveLength(10);
    expect(issues).toEqual([{ code: 'too_many', left: 6, max: 10 }]);
  });
});
