import { envSchema } from './env.schema.js';

const HEAD = '# Every setting with its default and meaning. Empty values count as absent.\n';

/** The text of .env.example: each variable of the table, its meaning above it. */
export function envExample(): string {
  const defaults = envSchema.partial().parse({}) as Record<string, unknown>;
  const entries = Object.entries(envSchema.shape).map(
    ([name, rule]) => `# ${rule.description ?? ''}\n${name}=${toText(defaults[name])}`,
  );
  return `${[HEAD, ...entries].join('\n')}\n`;
}

function toText(value: unknown): string {
  if (Array.isArray(value)) {
    return value.join(',');
  }
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined ? '' : JSON.stringify(value);
}
