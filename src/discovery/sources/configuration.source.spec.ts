import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../platform/observability/logging/log.js';
import { ConfigurationSource } from './configuration.source.js';
import { limitedEnv } from '../../../test/support/limits/limits.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-platform-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const signal = new AbortController().signal;
const YAML = `
platform:
  components:
    - key: documentManagement
      kind: http
      name: Document management
      endpoint: https://docs.example.com/api
      tags: [core]
      timeoutMs: 500
      options: { healthPath: /actuator/health }
    - { key: core, kind: postgresql, endpoint: 'postgres://svc@db.example.com/core', password: '\${env:DB_PASSWORD}' }
    - key: events
      kind: kafka
      endpoint: kafka://one:9092,two:9092
      username: svc
      password: \${file:PASSWORD_FILE}
      map: externalIntegrations
      options: { tls: true, mechanism: scram-sha-512, expectedBrokers: 2 }
`;

function sourceOf(text: string | Buffer, settings: Record<string, string> = {}): ConfigurationSource {
  const file = join(folder, 'platform');
  writeFileSync(file, text);
  return sourceAt(file, settings).source;
}

function sourceAt(file: string, settings: Record<string, string> = {}) {
  const env = limitedEnv('maintenance', { LOG_LEVEL: 'silent', DISCOVERY_CONFIG_FILE: file, ...settings });
  const log = new Log(env);
  return { log, source: new ConfigurationSource(env, log) };
}

/** Returns a file with one component that has the given members. */
function fileWith(member: Record<string, unknown>): string {
  const component = { key: 'docs', kind: 'http', endpoint: 'https://docs', ...member };
  return JSON.stringify({ platform: { components: [component] } });
}

describe('ConfigurationSource', () => {
  it('reads YAML and resolves references', async () => {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, 'from a file\n');
    const text = YAML.replace('PASSWORD_FILE', passwordFile);
    const { components, rejected } = await sourceOf(text, { DB_PASSWORD: 'from the environment' }).list(
      signal,
    );
    expect(rejected).toEqual([]);
    expect(components).toEqual([
      {
        key: 'documentManagement',
        map: 'services',
        kind: 'http',
        name: 'Document management',
        isNamed: true,
        endpoint: 'https://docs.example.com/api',
        options: { healthPath: '/actuator/health' },
        credentials: null,
        source: 'configuration',
        tags: ['core'],
        version: null,
        capabilities: [],
        timeoutMs: 500,
        trust: 'operator',
      },
      expect.objectContaining({
        key: 'core',
        map: 'infrastructure',
        name: 'core',
        isNamed: false,
        endpoint: 'postgres://db.example.com/core',
        credentials: { username: 'svc', password: 'from the environment' },
      }),
      expect.objectContaining({
        map: 'externalIntegrations',
        endpoint: 'kafka://one:9092,two:9092',
        credentials: { username: 'svc', password: 'from a file' },
        options: { tls: true, mechanism: 'scram-sha-512', expectedBrokers: 2 },
      }),
    ]);
  });

  it('reads JSON with tabs, and reads the file again for each scan', async () => {
    const source = sourceOf(`\t${fileWith({})}`);
    const before = await source.list(signal);
    expect(before.components.map(({ endpoint }) => endpoint)).toEqual(['https://docs']);
    sourceOf(fileWith({ endpoint: 'https://other' }));
    const after = await source.list(signal);
    expect(after.components.map(({ endpoint }) => endpoint)).toEqual(['https://other']);
  });

  it.each([
    [{ endpoint: 'https://docs/?x=CANARY' }, 'endpoint must have no query; use options.query.'],
    [{ endpoint: 'postgres://u:CANARY@h/' }, 'endpoint must start with http:// or https://.'],
    [{ endpoint: undefined }, 'endpoint is required.'],
    [{ endpoint: 12_345 }, 'endpoint must be a string.'],
    [{ kind: 'CANARY' }, 'kind must be a known kind.'],
    [{ kind: 'self' }, 'kind must be a known kind.'],
    [{ passwort: 'CANARY' }, 'passwort is not a known member.'],
    [{ 'pass word=CANARY': 1 }, '? is not a known member.'],
    [{ options: { tls: 'CANARY' } }, 'options.tls is not a known member.'],
    [
      { options: { healthPath: 'CANARY' } },
      'options.healthPath must be a path that starts with / and has no query.',
    ],
    [{ options: { headers: { 'x y': 'CANARY' } } }, 'options.headers.? has a name that is not allowed.'],
    [{ options: { ca: 'CANARY' } }, 'options.ca must be certificates in PEM form.'],
    [{ timeoutMs: 10 }, 'timeoutMs must be at least 50.'],
    [{ map: 'CANARY' }, 'map must be services, infrastructure or externalIntegrations.'],
    [{ tags: 'CANARY' }, 'tags must be a list.'],
    [{ password: '${env:NOT_SET}' }, 'password refers to an environment variable that is not set.'],
    [
      { password: '${file:/nowhere/CANARY}' },
      'password refers to a file that cannot be read or is too large.',
    ],
    [
      { password: '${vault:CANARY}' },
      'password must contain references as ${env:NAME} or ${file:PATH}; write $${ for a literal ${.',
    ],
    [
      { options: { headers: { 'x-key': 'CANARY ${env:' } } },
      'options.headers.x-key must contain references as ${env:NAME} or ${file:PATH}; write $${ for a literal ${.',
    ],
  ])('reports the path of the mistake in %j, never its value', async (member, reason) => {
    const { components, rejected } = await sourceOf(fileWith(member)).list(signal);
    expect(components).toEqual([]);
    expect(rejected).toEqual([{ key: 'docs', reason: `platform.components[0].${reason}` }]);
  });

  it('uses the other components and reports every mistake', async () => {
    const document = {
      platform: {
        components: [
          { key: 'CANARY!', kind: 'http', endpoint: 'https://one', tags: 1 },
          { key: 'two', kind: 'http', endpoint: 'https://two', password: '$${env:A}' },
          { key: 'two', kind: 'http', endpoint: 'https://three' },
          'CANARY',
        ],
      },
    };
    const { components, rejected } = await sourceOf(JSON.stringify(document)).list(signal);
    expect(components).toHaveLength(1);
    expect(components[0]).toMatchObject({ key: 'two', credentials: { password: '${env:A}' } });
    expect(rejected).toEqual([
      {
        key: 'platform.components[0]',
        reason: 'platform.components[0].key must be 1 to 64 letters, digits, _ or -.',
      },
      { key: 'platform.components[0]', reason: 'platform.components[0].tags must be a list.' },
      { key: 'two', reason: 'The key occurs more than once in this source; the first one is used.' },
      { key: 'platform.components[3]', reason: 'platform.components[3] must be an object.' },
    ]);
  });

  it('lists at most the number of components of a scan, and reports the rest', async () => {
    const components = ['one', 'two', 'three'].map((key) => ({
      key,
      kind: 'http',
      endpoint: 'https://docs',
    }));
    const text = JSON.stringify({ platform: { components } });
    const listing = await sourceOf(text, { 'discoveryLimits.components': '2' }).list(signal);
    expect(listing.components).toHaveLength(2);
    expect(listing.rejected).toEqual([
      { key: 'configuration', reason: 'There are more than 2 components; the rest is ignored.' },
    ]);
  });

  it.each([
    ['platform: [CANARY\n', 'syntax', /^line \d+, column \d+$/],
    ['platform: {components: []}\nplatform: CANARY', 'syntax', /^line 2, column 1$/],
    [bomb(), 'syntax', null],
    ['['.repeat(20_000), 'syntax', null],
    ['CANARY', 'configuration', /^The file must be an object$/],
    ['platform: CANARY', 'configuration', /^platform must be an object$/],
    ['components: []', 'configuration', /^platform is required; components is not a known member$/],
    ['', 'configuration', /^The file must be an object$/],
    [`# ${'x'.repeat(2_000)}`, 'too_large', null],
  ])('rejects the whole file %.40s', async (text, failure, detail) => {
    const settings = text.length < 5_000 ? { 'discoveryLimits.configBytes': '1024' } : {};
    const error: unknown = await sourceOf(text, settings)
      .list(signal)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure });
    const { detail: actual } = error as { detail: string | null };
    expect(actual ?? '').toMatch(detail ?? /^(line \d+, column \d+)?$/);
    expect(JSON.stringify(error)).not.toContain('CANARY');
  });

  it.each([join(folder, 'missing'), folder, '/dev/zero'])('cannot read %s', async (file) => {
    const listing = sourceAt(file).source.list(signal);
    await expect(listing).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it('logs mistakes at startup', async () => {
    const file = join(folder, 'wrong');
    writeFileSync(file, fileWith({ password: 1 }));
    for (const [path, fields] of [
      [file, { key: 'docs', reason: 'platform.components[0].password must be a string.' }],
      [join(folder, 'missing'), { reason: 'The file cannot be read.', detail: null }],
    ] as const) {
      const { source, log } = sourceAt(path);
      const warn = vi.spyOn(log, 'warn');
      await source.logMistakes();
      expect(warn).toHaveBeenCalledExactlyOnceWith(expect.any(String), fields);
    }
  });
});

/** Returns a document of a few lines that expands to billions of values. */
function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ')}]`);
  }
  return lines.join('\n');
}
