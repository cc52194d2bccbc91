import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Log } from '../../platform/observability/logging/log.js';
import { Env } from '../../platform/config/env.js';
import { platformSchema } from './configuration/component.schema.js';
import { ConfigurationSource } from './configuration.source.js';
import { EnvironmentSource } from './environment.source.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-platform-documented-'));
afterAll(() => rmSync(folder, { recursive: true }));
const validate = new Ajv2020().compile(platformSchema());
const never = new AbortController().signal;

/** Returns the code blocks of a document in one language. */
function blocks(file: string, language: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) => text);
}

function configurations(file: string): string[] {
  return blocks(file, 'yaml').filter((text) => text.startsWith('platform:'));
}

describe('the configuration in docs/discovery.md', () => {
  it('matches the published schema and has no mistakes', async () => {
    const file = 'docs/discovery.md';
    expect(configurations(file)).toHaveLength(1);
    const [text = ''] = configurations(file);
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);

    const path = join(folder, 'platform.yaml');
    writeFileSync(path, text.replaceAll(/\$\{(?:env|file):[^}]*\}/g, '${env:ANY}'));
    const settings = { DISCOVERY_CONFIG_FILE: path, LOG_LEVEL: 'silent', ANY: '-----BEGIN CERTIFICATE-----' };
    const env = Env.parse('maintenance', settings);
    const { components, rejected } = await new ConfigurationSource(env, new Log(env)).list(never);
    expect(rejected).toEqual([]);
    expect(components.length).toBeGreaterThan(2);
  });
});

describe('the published schema', () => {
  it('rejects what the service rejects', () => {
    const file = (member: Record<string, unknown>) => ({
      platform: { components: [{ key: 'a', kind: 'kafka', endpoint: 'kafka://one', ...member }] },
    });
    expect(validate(file({}))).toBe(true);
    expect(validate(file({ options: { ca: '${file:/etc/ca.pem}' } }))).toBe(true);
    for (const wrong of [{ kind: 'x' }, { key: 'a b' }, { options: { healthPath: '/x' } }, { other: 1 }]) {
      expect(validate(file(wrong))).toBe(false);
    }
  });
});

describe('the shorthands in docs/discovery.md', () => {
  it('have no mistakes', async () => {
    const [text = ''] = blocks('docs/discovery.md', 'sh');
    const variables = [...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const source = new EnvironmentSource(Env.parse('maintenance', Object.fromEntries(variables)));
    const { components, rejected } = await source.list();
    expect(rejected).toEqual([]);
    expect(components.map(({ key }) => key)).toEqual(['documentManagement', 'coreDatabase', 'search']);
  });
});
