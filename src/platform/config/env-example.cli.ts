import { writeFileSync } from 'node:fs';
import { runCli } from './cli.js';
import { envSchema, type Settings } from './env.schema.js';

const HEAD = '# Every setting with its default and meaning. Empty values count as absent.';
/** Comment of the settings of the OpenTelemetry SDK, which the schema does not contain. */
const OTHER_VARIABLES =
  '# The OpenTelemetry SDK also reads its own variables, such as OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and OTEL_BSP_… (docs/operations.md).';
/** Heading above the first setting of each topic. */
const TOPICS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    NODE_ENV: 'Service',
    DATABASE_URL: 'Database',
    REDIS_URL: 'Redis',
    OIDC_ISSUER: 'Bearer tokens and permissions',
    SECRETS_KEYS: 'Encryption',
    HTTP_REQUIRE_IF_MATCH: 'HTTP',
    RATE_LIMIT_ADDRESS_PER_MINUTE: 'Rate limits',
    EGRESS_ALLOW: 'Outbound calls',
    MCP_REFRESH_MINUTES: 'Tools',
    DISCOVERY_PERMISSION: 'Platform discovery',
    JOBS_CONCURRENCY: 'Background jobs',
    LIBRARY_CONSENT_AT_CALLS: 'Processes',
    QUOTAS: 'Quotas',
    LLM_BASE_URL: 'Agents',
    OTEL_EXPORTER_OTLP_ENDPOINT: `Traces\n${OTHER_VARIABLES}`,
    CONSOLE: 'Console',
    MCP_PORT: 'Evaluation mode',
  } satisfies Partial<Record<keyof Settings, string>>),
);

await runCli(async (_args, print) => {
  writeFileSync('.env.example', envExample());
  print('Wrote .env.example.');
  return 0;
});

function envExample(): string {
  const defaults = envSchema.partial().parse({}) as Record<string, unknown>;
  const entries = Object.entries(envSchema.shape).map(([name, rule]) => {
    const topic = TOPICS.get(name);
    const heading = topic === undefined ? '' : `\n## ${topic}\n`;
    return `${heading}# ${rule.description ?? ''}\n${name}=${toText(defaults[name])}`;
  });
  return `${[HEAD, ...entries].join('\n')}\n`;
}

function toText(value: unknown): string {
  if (Array.isArray(value)) {
    return value.join(',');
  }
  if (value instanceof Map) {
    return [...value].map((entry) => entry.join('=')).join(',');
  }
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined ? '' : JSON.stringify(value);
}
