import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { envSchema } from './env.schema.js';
import { Env, EnvError } from './env.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const production = {
  DATABASE_URL: 'mysql://svc:hush@db.example.com/svc',
  OIDC_ISSUER: 'https://sso.example.com',
  OIDC_AUDIENCE: 'urn:svc:api',
  SECRETS_KEYS: `k1:${KEY}`,
};

/** Returns the problems that parsing reports. */
function problems(...[mode, source]: Parameters<typeof Env.parse>): string[] {
  try {
    Env.parse(mode, source);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(EnvError);
    return (error as EnvError).problems;
  }
}

describe('Env', () => {
  it('requires four settings in production and has defaults for all others', () => {
    const env = Env.parse('production', production);
    expect(env.get('PORT')).toBe(3_000);
    expect(env.get('TOOL_CHANGE_POLICY')).toBe('review-changes');
    expect(env.get('EGRESS_ALLOW')).toEqual([]);
    expect(env.get('SECRETS_KEYS')).toEqual([{ id: 'k1', key: Buffer.alloc(32, 7) }]);
    expect(env.isEvaluation).toBe(false);
  });

  it('accepts every line of .env.example, and reads the defaults from it', () => {
    const example = parseEnv(readFileSync('.env.example', 'utf8'));
    expect(Object.keys(example).toSorted()).toEqual(Object.keys(envSchema.shape).toSorted());
    for (const [mode, given] of [
      ['evaluation', {}],
      ['production', production],
    ] as const) {
      expect(Env.parse(mode, { ...example, ...given })['settings']).toEqual(
        Env.parse(mode, given)['settings'],
      );
    }
  });

  it('reports which settings come from the entry point', () => {
    const defaults = { LLM_BASE_URL: 'http://127.0.0.1:4/v1', LLM_MODEL: 'scripted' };
    const env = Env.parse('evaluation', { LLM_MODEL: 'other', LLM_BASE_URL: '' }, defaults);
    expect([env.get('LLM_BASE_URL'), env.isEntryPointDefault('LLM_BASE_URL')]).toEqual([
      'http://127.0.0.1:4/v1',
      true,
    ]);
    expect([
      env.get('LLM_MODEL'),
      env.isEntryPointDefault('LLM_MODEL'),
      env.isEntryPointDefault('PORT'),
    ]).toEqual(['other', false, false]);
  });

  it('reports all missing settings at once; an empty value counts as missing', () => {
    expect(problems('production', { ...production, DATABASE_URL: '', OIDC_ISSUER: undefined })).toEqual([
      'DATABASE_URL is required',
      'OIDC_ISSUER is required',
    ]);
    expect(problems('production', {})).toHaveLength(4);
  });

  it('allows PROCESS_MESSAGE_ONE_RECEIVER only without shards', () => {
    const strict = { ...production, PROCESS_MESSAGE_ONE_RECEIVER: 'true' };
    expect(problems('production', { ...strict, DATABASE_SHARDS: '2' })).toEqual([
      'PROCESS_MESSAGE_ONE_RECEIVER needs DATABASE_SHARDS=1',
    ]);
    expect(Env.parse('production', strict).get('PROCESS_MESSAGE_ONE_RECEIVER')).toBe(true);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['PORT', '3000 '],
    ['PORT', '99999999999999999999'],
    ['NODE_ENV', 'staging'],
    ['OIDC_REQUIRED_CLAIMS', 'token_use'],
    ['OIDC_REQUIRED_CLAIMS', 'token_use=access,=hush'],
    ['OIDC_REQUIRED_CLAIMS', 'token_use='],
    ['LOG_LEVEL', 'verbose'],
    ['DATABASE_URL', 'postgres://svc:hush@db/svc'],
    ['DATABASE_URL', 'mysql://'],
    ['DATABASE_URL', 'mysql://svc:hush@/svc'],
    ['DATABASE_URL', 'mysql://svc:hush@db'],
    ['DATABASE_URL', 'mysql://svc:hush@db:3306/'],
    ['DATABASE_URL', 'mysql://svc:hush@db:3306/?ssl=true'],
    ['DATABASE_URL', 'mariadb://svc:hush@db:0/svc'],
    ['DATABASE_URL', 'mariadb://svc:hush@db:65536/svc'],
    ['DATABASE_URL', 'mariadb://svc:hush@db:port/svc'],
    ['DATABASE_URL', 'mysql://svc:hush/1@db:3306/svc'],
    ['DATABASE_URL', 'mysql://svc:hush%@db:3306/svc'],
    ['DATABASE_URL', 'mysql://svc:hush%FF@db:3306/svc'],
    ['DATABASE_TLS', 'yes'],
    ['OIDC_ISSUER', 'sso.example.com'],
    ['OIDC_ISSUER', 'ftp://sso.example.com'],
    ['OIDC_ISSUER', 'http://sso.example.com'],
    ['OIDC_ISSUER', 'http://localhost.example.com'],
    ['PERMISSION_RULES', '{hush'],
    ['PERMISSION_RULES', '{"integration-management":"hush"}'],
    ['PERMISSION_RULES', '{"integration-management":[{"claim":"","has":"hush"}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","app":["a"]}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","apps":[]}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","apps":"a"}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","apps":["hu sh"]}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","apps":["(a|b)"]}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","apps":["a"],"appsIn":"hush"}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"c","has":"hush","hasAt":"hush"}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"hush","apps":["a"]}]}'],
    ['PERMISSION_RULES', '{"p":[{"claim":"hush","appsIn":""}]}'],
    ['PERMISSION_RULES', '{"p":[{"hasAt":"hush"}]}'],
    ['PERMISSION_RULES', '{"p":[]},hush'],
    ['PERMISSION_RULES', '["hush"]'],
    ['SECRETS_KEYS', 'hush'],
    ['SECRETS_KEYS', `k1:${Buffer.alloc(31).toString('base64')}`],
    ['SECRETS_KEYS', `k.1:${KEY}`],
    ['SECRETS_KEYS', `k1:${KEY},k1:${KEY}`],
    ['TOOL_CHANGE_POLICY', 'ask'],
    ['LLM_BASE_URL', 'llm.example.com/v1'],
    ['LLM_BASE_URL', 'https://hush@llm.example.com/v1'],
    ['LLM_BASE_URL', 'https://:hush@llm.example.com/v1'],
    ['LLM_BASE_URL', 'https://llm.example.com/v1?key=hush'],
    ['LLM_BASE_URL', 'https://llm.example.com/v1#hush'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://hush@collector.example.com'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hush'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%hush'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hush'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hush%0Ab'],
  ])('reports %s when its value breaks the rule, without the value', (name, value) => {
    const [problem, ...rest] = problems('production', { ...production, [name]: value });
    expect(problem).toMatch(new RegExp(`^${name} `));
    expect(rest).toEqual([]);
    expect(problem).not.toContain('hush');
    expect(problem).not.toContain(KEY);
  });

  it.each([
    'mysql://db/svc',
    'mysql://svc@db/svc',
    'mysql://svc:@db.example.com:3306/svc',
    'mariadb://svc:p%40ss%2F%25@10.0.0.1:65535/svc_1?charset=utf8mb4',
    'mariadb://svc:p#a?s@s:w@db:1/svc',
  ])('accepts the database %s', (url) => {
    expect(problems('production', { ...production, DATABASE_URL: url })).toEqual([]);
  });

  it.each(['production', 'evaluation'] as const)(
    'never sends the API key of a model unencrypted: %s',
    (mode) => {
      const given = mode === 'production' ? production : {};
      const url = (address: string, more = {}) =>
        problems(mode, { ...given, LLM_BASE_URL: address, ...more });
      expect(url('http://llm.example.com/v1')).toEqual([]);
      expect(url('http://llm.example.com/v1', { LLM_API_KEY: 'hush' })).toEqual([
        'LLM_BASE_URL must start with https:// where LLM_API_KEY is set, unless it is on this machine',
      ]);
      expect(url('http://127.0.0.1:8080/v1', { LLM_API_KEY: 'hush' })).toEqual([]);
      expect(url('https://llm.example.com/v1', { LLM_API_KEY: 'hush' })).toEqual([]);
    },
  );

  it('requires client credentials and https for introspection', () => {
    const [url, id, secret] = ['URL', 'CLIENT_ID', 'CLIENT_SECRET'].map(
      (name) => `OIDC_INTROSPECTION_${name}`,
    ) as [string, string, string];
    const ask = (settings: Record<string, string>) => problems('production', { ...production, ...settings });
    const address = 'https://sso.example.com/introspect';
    const client = { [id]: 'svc', [secret]: 'hush' };
    expect(ask({ [url]: address, ...client })).toEqual([]);
    expect(ask({ [url]: address })).toEqual([`${url} needs ${id} and ${secret}`]);
    expect(ask({ [url]: address, [id]: 'svc' })).toEqual([`${url} needs ${id} and ${secret}`]);
    expect(ask({ [secret]: 'hush' })).toEqual([`${secret} needs ${url}`]);
    expect(ask({ [url]: 'http://sso.example.com/introspect', ...client })).toEqual([
      `${url} must start with https:// unless it is on this machine`,
    ]);
    expect(ask({ [url]: 'https://hush@sso.example.com', ...client })).toEqual([
      `${url} must hold no credentials`,
    ]);
    expect(ask({ [url]: 'hush', ...client })).toEqual([`${url} must be an http or https URL`]);
    expect(problems('evaluation', { [url]: address, ...client })).toEqual([
      `${url} must not be set in evaluation mode`,
    ]);
  });

  it('rejects the embedded database in production', () => {
    const embedded = { ...production, DATABASE_URL: 'sqlite:./svc.sqlite' };
    expect(problems('production', embedded)).toEqual([
      'DATABASE_URL must start with mysql:// or mariadb:// in production',
    ]);
  });

  it('rejects production settings in evaluation mode', () => {
    expect(problems('evaluation', { ...production, NODE_ENV: 'production' })).toEqual([
      'DATABASE_URL must not be set in evaluation mode',
      'OIDC_ISSUER must not be set in evaluation mode',
      'OIDC_AUDIENCE must not be set in evaluation mode',
      'NODE_ENV must not be production in evaluation mode',
    ]);
    expect(Env.parse('evaluation', {}).isEvaluation).toBe(true);
  });

  it('requires no settings for maintenance', () => {
    expect(problems('maintenance', {})).toEqual([]);
  });

  it('splits lists and drops empty items', () => {
    const env = Env.parse('production', { ...production, EGRESS_ALLOW: ' 10.0.0.0/8, ,mcp.internal:8443,' });
    expect(env.get('EGRESS_ALLOW')).toEqual(['10.0.0.0/8', 'mcp.internal:8443']);
  });

  it('returns other variables by name, and those with a prefix in order', () => {
    const source = { PLATFORM_B: 'two', PLATFORM_A: 'one', PLATFORM_: 'no name', PLATFORM_C: '', OTHER: 'x' };
    const env = Env.parse('maintenance', source);
    expect(env.variable('OTHER')).toBe('x');
    expect(env.variable('PLATFORM_C')).toBeUndefined();
    expect(env.variablesFrom('PLATFORM_')).toEqual([
      { name: 'PLATFORM_A', value: 'one' },
      { name: 'PLATFORM_B', value: 'two' },
    ]);
  });

  it('lists all problems in its message and defines exit status 78', () => {
    expect(new EnvError(['A is required', 'B is wrong']).message).toBe(
      'Wrong configuration:\n  A is required\n  B is wrong',
    );
    expect(EnvError.exitCode).toBe(78);
  });
});
