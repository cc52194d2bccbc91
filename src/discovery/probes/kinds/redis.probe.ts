import type { RedisOptions } from 'ioredis';
import type { Component } from '../../model/component.types.js';
import { addressesOf } from '../net/component-options.js';
import { loadDriver, ProbeSockets } from '../net/probe-sockets.js';
import { known, versionOf, wholeNumber } from '../net/self-description.js';
import { tlsTrustOf, usesTls } from '../net/open-socket.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { ProbeContext, ProbeFinding, ProbeWarning } from '../../model/probe.js';

const PORT = 6_379;
const NEARLY_USED_PERCENT = 80;
/** Failures by error code, the first word of an error reply (RESP). */
const REPLIES: Readonly<Record<string, ProbeFailure>> = {
  WRONGPASS: 'auth',
  NOAUTH: 'auth',
  NOPERM: 'forbidden',
  DENIED: 'forbidden',
};
/** First bytes of replies, which denote their type. */
const FIRST_BYTES = new Set(Buffer.from('+-$*:_%,#!=(~>'));

/** Checks a Redis or Valkey server: version and memory. Needs an account that may run INFO. */
export async function probeRedis(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const { scheme, servers } = addressesOf(component, PORT);
  const sockets = new ProbeSockets(context, (first) => FIRST_BYTES.has(first[0] ?? 0));
  const trust = usesTls(component, scheme) ? tlsTrustOf(component) : undefined;
  const { Redis, AbstractConnector } = await loadDriver('ioredis', () => import('ioredis'));
  class Connector extends AbstractConnector {
    connect() {
      this.connecting = true;
      this.stream = sockets.open(servers[0], trust);
      return Promise.resolve(this.stream);
    }
  }
  const redis = new Redis({
    ...ONE_ATTEMPT,
    ...account(component),
    connectTimeout: context.timeoutMs,
    Connector: Connector as unknown as NonNullable<RedisOptions['Connector']>,
    // Makes the driver wait for the TLS handshake of the given socket.
    ...(trust === undefined ? {} : { tls: {} }),
  });
  let first: unknown;
  redis.on('error', (error: unknown) => {
    first ??= error;
  });
  context.onEnd(() => redis.disconnect());
  try {
    await redis.connect();
    return found(await redis.info(), context);
  } catch (error) {
    throw failureOf(first ?? error) ?? failureOf(error) ?? sockets.toError(first ?? error);
  }
}

/** Options that keep the driver from reconnecting forever and from queueing commands. */
const ONE_ATTEMPT: RedisOptions = {
  lazyConnect: true,
  retryStrategy: null,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  autoResubscribe: false,
};

function account({ credentials }: Component): RedisOptions {
  const { username, password } = credentials ?? {};
  return { ...known('username', username), ...known('password', password) };
}

function failureOf(error: unknown): ProbeError | undefined {
  const { name, message, command } = error as {
    name?: string;
    message?: string;
    command?: { name?: string };
  };
  if (name !== 'ReplyError' || typeof message !== 'string') {
    return undefined;
  }
  const failure = REPLIES[message.split(' ', 1)[0] ?? ''];
  return new ProbeError(failure ?? (command?.name === 'auth' ? 'auth' : 'down'));
}

function found(info: string, { warn }: ProbeContext): ProbeFinding {
  const fields = new Map(
    info.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string | undefined]),
  );
  const valkey = fields.get('valkey_version');
  const used = wholeNumber(fields.get('used_memory'));
  const limit = wholeNumber(fields.get('maxmemory') ?? 0);
  const total = wholeNumber(fields.get('total_system_memory') ?? 0);
  memoryWarnings(used, limit, fields.get('maxmemory_policy')).forEach(warn);
  if (fields.get('loading') === '1') {
    warn({ code: 'degraded' });
  }
  return {
    type: valkey === undefined ? 'redis' : 'valkey',
    version: versionOf(valkey ?? fields.get('redis_version')),
    memory: { usedBytes: used, availableBytes: Math.max(0, (limit > 0 ? limit : total) - used) },
  };
}

function memoryWarnings(used: number, limit: number, policy: string | undefined): ProbeWarning[] {
  if (limit === 0) {
    return policy === 'noeviction' ? [{ code: 'memory_unlimited' }] : [];
  }
  const percent = Math.floor((used / limit) * 100);
  return percent >= NEARLY_USED_PERCENT ? [{ code: 'memory_nearly_used', percent }] : [];
}
