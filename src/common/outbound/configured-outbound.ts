import { EnvError, type Env } from '../../config/env.js';
import { readAuthority } from '../tls/authority-file.js';
import { AddressPolicy, type AddressPolicyOptions, type PlainHttp } from './address-policy.js';
import { OutboundClient, type OutboundClientOptions } from './outbound.client.js';
import type { OutboundSettings } from './outbound.types.js';
import type { DialThread } from './thread/dial-thread.js';
import { OutboundProxy, type ProxyOptions } from './outbound-proxy.js';
import { outboundLimits } from './outbound.limits.js';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * What is configured for all guarded outbound calls, checked, so that a wrong list stops the start and not the first call.
 * @throws EnvError when `EGRESS_ALLOW`, `OUTBOUND_NO_PROXY` or the file of the proxy's authority cannot be read
 */
export function configuredOutbound(env: Env): OutboundSettings {
  const proxy = configuredProxy(env);
  return {
    policy: configuredPolicy(env),
    ...(proxy === undefined ? {} : { proxy }),
    maxRedirects: outboundLimits.maxRedirects,
    connectTimeoutMs: outboundLimits.connectTimeoutMs,
  };
}

/**
 * The guarded client of these settings.
 * @param rest.thread for the main thread: opens the connections over TLS
 */
export function outboundClient(
  settings: OutboundSettings,
  { thread, ...rest }: Pick<OutboundClientOptions, 'seats'> & { thread?: DialThread | undefined } = {},
): OutboundClient {
  const { policy, proxy, maxRedirects, connectTimeoutMs } = settings;
  return new OutboundClient({
    policy: new AddressPolicy(policy),
    ...(proxy === undefined ? {} : { proxy: new OutboundProxy(proxy) }),
    maxRedirects,
    connectTimeoutMs,
    ...(thread === undefined ? {} : { far: { thread, settings } }),
    ...rest,
  });
}

/**
 * The guarded client for an address that an operator has chosen. It may be private and plain http, unlike others that are called through
 * this client, and nothing leads away from it.
 * @param address none: only others are called
 * @throws EnvError as `configuredOutbound`
 */
export function operatorClient(env: Env, address: string | undefined, thread?: DialThread): OutboundClient {
  const settings = configuredOutbound(env);
  const own = address === undefined ? [] : [hostRule(new URL(address))];
  const policy = {
    ...settings.policy,
    allow: [...settings.policy.allow, ...own],
    plainHttp: 'allow' as const,
  };
  return outboundClient({ ...settings, policy, maxRedirects: 0 }, { thread });
}

/** The one host and port that the operator named. */
function hostRule({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port === '' ? DEFAULT_PORTS[protocol] : port}`;
}

/** Whether plain http is let through where no setting says so: a person tries it out, or real secrets travel. */
export function plainHttpOf(env: Env): PlainHttp {
  return env.get('OUTBOUND_HTTP') ?? (env.mode === 'production' ? 'refuse' : 'allow');
}

function configuredPolicy(env: Env): AddressPolicyOptions {
  const policy = {
    allow: env.get('EGRESS_ALLOW'),
    allowLoopback: env.isEvaluation,
    plainHttp: plainHttpOf(env),
  };
  return readable(
    policy,
    (options) => new AddressPolicy(options),
    'EGRESS_ALLOW must list CIDRs, addresses or host names',
  );
}

function configuredProxy(env: Env): ProxyOptions | undefined {
  const url = env.get('OUTBOUND_PROXY');
  if (url === undefined) {
    return undefined;
  }
  const file = env.get('TLS_CA_FILE');
  const proxy = {
    url,
    target: env.get('OUTBOUND_PROXY_TARGET'),
    direct: env.get('OUTBOUND_NO_PROXY'),
    ...(file === undefined ? {} : { ca: readAuthority(file) }),
  };
  return readable(
    proxy,
    (options) => new OutboundProxy(options),
    'OUTBOUND_NO_PROXY must list host names, .suffixes, addresses or CIDRs',
  );
}

function readable<Options>(options: Options, read: (options: Options) => unknown, rule: string): Options {
  try {
    read(options);
    return options;
  } catch {
    throw new EnvError([`${rule}, each with an optional :port`]);
  }
}
