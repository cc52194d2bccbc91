import { parseArgs, type ParseArgsConfig } from 'node:util';
import { runCli } from '../platform/config/cli.js';
import { Env } from '../platform/config/env.js';
import type { TokenOrder } from './evaluation-issuer.js';
import { orderToken } from './token-socket.client.js';

const USAGE =
  'usage: npm run -s dev:token -- [--sub SUBJECT] [--permission PERMISSION | none]... [--ttl SECONDS]';
const USAGE_ERROR = 2;
const EIGHT_HOURS = '28800';

const options = {
  sub: { type: 'string', default: 'jane.doe' },
  permission: { type: 'string', multiple: true },
  ttl: { type: 'string', default: EIGHT_HOURS },
} as const satisfies ParseArgsConfig['options'];

await runCli(async (args, print) => {
  const order = orderFrom(args);
  if (typeof order === 'string') {
    process.stderr.write(`${order}\n${USAGE}\n`);
    return USAGE_ERROR;
  }
  print(await orderToken(Env.fromProcess('maintenance').get('DATA_DIR'), order));
  return 0;
});

function orderFrom(args: string[]): TokenOrder | string {
  try {
    const { sub, permission, ttl } = parseArgs({ args, options }).values;
    if (!/^\d{1,9}$/.test(ttl)) {
      return '--ttl must be a whole number of seconds';
    }
    if (permission?.includes('none') && permission.length > 1) {
      return '--permission none cannot be combined with other permissions';
    }
    const named = permission?.filter((name) => name !== 'none');
    return { subject: sub, permissions: named ?? 'all', ttlSeconds: Number(ttl) };
  } catch (error) {
    return error instanceof Error ? error.message : 'invalid arguments';
  }
}
