import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Log } from '../../platform/observability/logging/log.js';
import { Env } from '../../platform/config/env.js';
import type { Component } from '../model/component.types.js';
import { PROBE_FAILURES, type ProbeFailure } from '../model/failures.js';
import type { ProbeFinding } from '../model/probe.js';
import { ConfigurationSource } from '../sources/configuration.source.js';
import { answerOf } from '../findings/answer.js';
import type { CheckedComponent, DiscoveryResult, ProbeOutcome } from '../model/scan.types.js';
import { compare } from '../findings/snapshot.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-platform-answers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const UNITS: Record<string, number> = { '': 1, K: 1_024, M: 1_048_576, G: 1_073_741_824 };

/** An entry of a documented response, in any map. */
interface Documented extends Omit<ProbeFinding, 'memory'> {
  status: 'healthy' | 'unhealthy';
  error?: string;
  memory?: { used: string; available: string };
}

function block(file: string, language: string, begins: RegExp): string {
  const found = [...readFileSync(file, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return found.find(([, name, text = '']) => name === language && begins.test(text))?.[2] ?? '';
}

/** The components of the documented configuration. */
async function documentedComponents(file: string): Promise<Component[]> {
  const path = join(folder, 'platform.yaml');
  const text = block(file, 'yaml', /^platform:/).replaceAll(/\$\{(?:env|file):[^}]*\}/g, '${env:ANY}');
  writeFileSync(path, text);
  const env = Env.parse('maintenance', { DISCOVERY_CONFIG_FILE: path, LOG_LEVEL: 'silent', ANY: 'any' });
  const { components } = await new ConfigurationSource(env, new Log(env)).list(new AbortController().signal);
  return [...components];
}

/** Removes members named `…`, which stand for omitted parts. */
function withoutDots(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value;
  }
  const entries = Object.entries(value).filter(([key]) => key !== '…');
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutDots(each)]));
}

function bytes(text: string): number {
  const [, number, unit = ''] = /^([\d.]+)([KMG]?)B$/.exec(text) ?? [];
  return Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
}

/** Returns the finding that leads to a documented entry. */
function findingOf({ status: _status, error: _error, memory, ...shown }: Documented): ProbeFinding {
  const { version, ...rest } = shown;
  return {
    ...rest,
    ...(version === undefined || version === 'unknown' ? {} : { version }),
    ...(memory === undefined
      ? {}
      : { memory: { usedBytes: bytes(memory.used), availableBytes: bytes(memory.available) } }),
  };
}

function outcomeOf(shown: Documented): ProbeOutcome {
  const failures = Object.entries(PROBE_FAILURES) as [ProbeFailure, string][];
  const failure = failures.find(([, text]) => text === shown.error)?.[0];
  return failure === undefined
    ? { status: 'healthy', finding: findingOf(shown) }
    : { status: 'unhealthy', failure, detail: null };
}

describe('the answer in docs/discovery.md', () => {
  const file = 'docs/discovery.md';
  const documented = withoutDots(JSON.parse(block(file, 'json', /"totalServices"/))) as DiscoveryResult;

  it('results from the configuration shown before it', async () => {
    const components = await documentedComponents(file);
    const shownOf = ({ map, key }: Component) => documented[map]?.[key] as Documented | undefined;
    expect(components.filter((each) => shownOf(each) === undefined)).toEqual([]);
    const checked = (toOutcome: (shown: Documented) => ProbeOutcome): CheckedComponent[] =>
      components.map((component) => ({
        component,
        outcome: toOutcome(shownOf(component) as Documented),
        checkedAt: new Date(0),
        tookMs: 1,
        timeoutMs: 2_000,
      }));
    // The previous scan found all of them healthy, so that versions are known.
    const before = compare(
      null,
      checked((shown) => ({ status: 'healthy', finding: findingOf(shown) })),
    );
    const now = checked(outcomeOf);
    const findings = { startedAt: new Date(0), finishedAt: new Date(0), durationMs: 842, issues: [] };
    const answer = answerOf({ ...findings, components: now }, compare(before.snapshot, now));
    for (const component of components) {
      const { lastHealthCheck: _time, ...shown } = shownOf(component) as Documented & {
        lastHealthCheck?: string;
      };
      expect(answer[component.map][component.key]).toMatchObject(shown);
    }
    expect(answer.summary).toEqual(documented.summary);
  });

  it('has consistent totals', () => {
    const { services, totalServices, healthyServices, unhealthyServices } = documented;
    const healthy = Object.values(services).filter(({ status }) => status === 'healthy').length;
    expect([totalServices, healthyServices, unhealthyServices]).toEqual([
      Object.keys(services).length,
      healthy,
      Object.keys(services).length - healthy,
    ]);
  });
});
