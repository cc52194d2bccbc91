import { writeFileSync } from 'node:fs';
import { runCli } from './cli.js';
import { envSchema } from './env.schema.js';

const HEAD = '# Every setting with its default and meaning. Empty values count as absent.\n';

await runCli(async (_args, print) => {
  writeFileSync('.env.example', envExample());
  print('Wrote .env.example.');
  return 0;
});

function envExample(): string {
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
  if (value instanceof Map) {
    return [...value].map((entry) => entry.join('=')).join(',');
  }
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined ? '' : JSON.stringify(value);
}
