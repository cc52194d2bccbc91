import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import { TestApp } from '../../support/app.js';
import { freePort } from '../../support/databases/process-resources.js';
import { eventually } from '../../support/runtime/runtime-client.js';

const alerts = parse(readFileSync('deploy/monitoring/alerts.yaml', 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const dashboard = JSON.parse(readFileSync('deploy/monitoring/dashboard.json', 'utf8')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const));
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);

describe('alert rules and the dashboard', () => {
  let app: TestApp;
  let text: string;
  beforeAll(async () => {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port) });
    // While the main thread is busy, for example at startup, the endpoint returns earlier metrics.
    text = await eventually(
      async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
      (metrics) => metrics.includes('outcome="given_up"'),
    );
  });
  afterAll(() => app.close());

  it('find a 0 for counters that have not counted an event yet', () => {
    for (const kind of ['TIMER', 'WORKFLOW', 'CALL', 'WORKFLOW_TEST']) {
      expect(text).toContain(`svc_job_duration_seconds_count{kind="${kind}",outcome="given_up"} 0\n`);
    }
    expect(text).toContain('svc_process_incidents_total{source="NODE",type="WORKFLOW"} 0\n');
    expect(text).toContain('svc_process_incidents_total{source="PROCESS_DEFINITION",type="DEFINITION"} 0\n');
  });

  it('name only metrics that the service exports', () => {
    const given = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    expect(rules.length).toBeGreaterThan(10);
    expect(panels.length).toBeGreaterThan(20);
    for (const [name, expression] of [...rules, ...panels]) {
      const named = expression.match(/\b(?:svc|process|nodejs)_[a-z_]+/g) ?? [];
      expect(named, name).not.toEqual([]);
      expect(
        named.filter((metric) => !given.has(metric)),
        name,
      ).toEqual([]);
    }
  });

  it('name only labels that these metrics have', () => {
    const metricsOf = app.nest.get(Metrics).registry.getMetricsAsArray() as unknown[];
    const labels = new Map(
      (metricsOf as { name: string; labelNames: string[] }[]).map((each) => [each.name, each.labelNames]),
    );
    for (const [name, expression] of [...rules, ...panels]) {
      const metrics = expression.match(/\b(?:svc|process|nodejs)_[a-z_]+/g) ?? [];
      const had = metrics.flatMap((metric) => labels.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? []);
      const grouped = [...expression.matchAll(/\b(?:by|on|group_left) ?\(([^)]*)\)/g)].flatMap(
        ([, list = '']) => list.split(','),
      );
      const matched = [...expression.matchAll(/([a-z_]+)(?:=|!=|=~|!~)"/g)].map(([, label = '']) => label);
      const named = [...grouped, ...matched].map((label) => label.trim()).filter((label) => label !== '');
      // Prometheus adds `instance`, and histogram buckets have `le`.
      const known = new Set([...had, 'instance', 'le']);
      expect(
        named.filter((label) => !known.has(label)),
        name,
      ).toEqual([]);
    }
  });
});
