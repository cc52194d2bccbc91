import { describe, expect, it } from 'vitest';
import { Env } from '../../platform/config/env.js';
import { EnvironmentSource } from './environment.source.js';

const sourceOf = (variables: Record<string, string>) =>
  new EnvironmentSource(Env.parse('maintenance', variables));

describe('EnvironmentSource', () => {
  it.each([
    [
      'PLATFORM_SERVICE_DOCUMENT_MANAGEMENT',
      'https://docs/api',
      'documentManagement',
      'http',
      'https://docs/api',
    ],
    ['PLATFORM_SERVICE_docs-2', 'http://docs', 'docs-2', 'http', 'http://docs'],
    [
      'PLATFORM_INFRA_CORE_DB',
      'postgres://u:p@db:5432/core',
      'coreDb',
      'postgresql',
      'postgres://db:5432/core',
    ],
    ['PLATFORM_INFRA_DB', 'mariadb://u:p@db/x', 'db', 'mysql', 'mariadb://db/x'],
    ['PLATFORM_INFRA_CACHE', 'valkeys://:p@cache', 'cache', 'redis', 'valkeys://cache'],
    ['PLATFORM_INFRA_DOCS', 'mongodb+srv://u:p@docs', 'docs', 'mongodb', 'mongodb+srv://docs'],
    [
      'PLATFORM_INFRA_EVENTS',
      'kafka://u:p@one:9092,two:9092',
      'events',
      'kafka',
      'kafka://one:9092,two:9092',
    ],
    ['PLATFORM_INFRA_MQ', 'amqps://u:p@mq', 'mq', 'rabbitmq', 'amqps://mq'],
    ['PLATFORM_INFRA_MQ', 'rabbitmq+http://u:p@mq:15672', 'mq', 'rabbitmq', 'http://mq:15672'],
    ['PLATFORM_INFRA_NATS', 'nats://nats:4222', 'nats', 'nats', 'nats://nats:4222'],
    [
      'PLATFORM_INFRA_SEARCH',
      'elasticsearch+https://u:p@es:9200',
      'search',
      'elasticsearch',
      'https://es:9200',
    ],
    ['PLATFORM_INFRA_STORAGE', 's3+https://u:p@s3', 'storage', 's3', 'https://s3'],
    ['PLATFORM_INFRA_MAIL', 'smtp://mail:25', 'mail', 'smtp', 'smtp://mail:25'],
  ])('reads %s=%s', async (variable, value, key, kind, endpoint) => {
    const { components, rejected } = await sourceOf({ [variable]: value }).list();
    expect(rejected).toEqual([]);
    expect(components).toEqual([expect.objectContaining({ key, kind, endpoint, source: 'environment' })]);
    const secret = value.includes(':p@') ? { password: 'p' } : null;
    expect(components[0]?.credentials?.password).toBe(secret?.password);
  });

  it('reads query parameters as options of the kind', async () => {
    const { components } = await sourceOf({
      PLATFORM_INFRA_A: 'kafka://one?tls=true&expectedBrokers=3&mechanism=plain',
      PLATFORM_SERVICE_B: 'https://docs?healthPath=/health',
    }).list();
    expect(components.map(({ options }) => options)).toEqual([
      { healthPath: '/health' },
      { tls: true, expectedBrokers: 3, mechanism: 'plain' },
    ]);
  });

  it.each([
    ['PLATFORM_INFRA_DB', 'https://u:CANARY@db', /^PLATFORM_INFRA_DB must start with the scheme of a kind/],
    ['PLATFORM_INFRA_DB', 'CANARY', /^PLATFORM_INFRA_DB must start with the scheme of a kind/],
    ['PLATFORM_INFRA_DB', 'self+http://CANARY', /^PLATFORM_INFRA_DB must start with the scheme of a kind/],
    ['PLATFORM_INFRA_DB', 'postgres://u:CANARY', /^PLATFORM_INFRA_DB must name a host/],
    ['PLATFORM_INFRA_DB', 'postgres://u:1?CANARY@host', /^PLATFORM_INFRA_DB must be a URL/],
    [
      'PLATFORM_INFRA_DB',
      'postgres://db?sslmode=CANARY',
      /^PLATFORM_INFRA_DB.options.sslmode is not a known member/,
    ],
    ['PLATFORM_SERVICE_A', 'ftp://u:CANARY@docs', /^PLATFORM_SERVICE_A must start with http/],
    ['PLATFORM_SERVICE_a.b', 'https://u:CANARY@docs', /^\?.key must be 1 to 64/],
  ])('rejects %s=%s and reports its name, never its value', async (variable, value, reason) => {
    const { components, rejected } = await sourceOf({ [variable]: value }).list();
    expect(components).toEqual([]);
    expect(rejected).toEqual([{ key: expect.any(String), reason: expect.stringMatching(reason) }]);
    expect(JSON.stringify(rejected)).not.toContain('CANARY');
  });
});
