import { EnvError, type Env } from '../config/env.js';
import { readAuthority } from '../tls/authority-file.js';
import { AddressPolicy, portOf, type AddressPolicyOptions, type PlainHttp } from './address-policy.js';
import { OutboundClient, type OutboundClientOptions } from './outbound.client.js';
import type { OutboundSettings } from './outbound.types.js';
import type { DialThread } from './thread/dial-thread.js';
import { OutboundProxy, type ProxyOptions } from './outbound-proxy.js';
import { outboundLimits } from './outbound.limits.js';

/**
 * Reads and checks the settings of guarded outbound calls, so that an invalid list fails the start, not the first call.
 * @throws EnvError when `EGRESS_ALLOW`, `OUTBOUND_NO_PROXY` or the CA file of the proxy is invalid
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

/** Creates a guarded client. @param thread opens TLS connections in place of the main thread */
export function outboundClient(
  settings: OutboundSettings,
  { thread, ...rest }: Pick<OutboundClientOptions, 'largeAnswers'> & { thread?: DialThread | undefined } = {},
): OutboundClient {
  const { policy, proxy, maxRedirects, connectTimeoutMs } = settings;
  return new OutboundClient({
    policy: new AddressPolicy(policy),
    ...(proxy === undefined ? {} : { proxy: new OutboundProxy(proxy) }),
    maxRedirects,
    connectTimeoutMs,
    ...(thread === undefined ? {} : { tlsDialer: { thread, settings } }),
    ...rest,
  });
}

/**
 * Creates a guarded client for an address that an operator configured. The address may be private and use plain http.
 * Redirects are not followed.
 * @throws EnvError as `configuredOutbound`
 */
export function operatorClient(env: Env, address: string | undefined, thread?: DialThread): OutboundClient {
  const settings = configuredOutbound(env);
  const url = address === undefined ? undefined : new URL(address);
  const own = url === undefined ? [] : [`${url.hostname}:${portOf(url)}`];
  const policy = {
    ...settings.policy,
    allow: [...settings.policy.allow, ...own],
    plainHttp: 'allow' as const,
  };
  return outboundClient({ ...settings, policy, maxRedirects: 0 }, { thread });
}

/** Returns which plain http URLs are allowed. By default production, where real secrets are sent, allows none. */
export function plainHttpOf(env: Env): PlainHttp {
  return env.get('OUTBOUND_HTTP') ?? (env.mode === 'production' ? 'refuse' : 'allow');
}

function configuredPolicy(env: Env): AddressPolicyOptions {
  const policy = {
    allow: env.get('EGRESS_ALLOW'),
    allowLoopback: env.isEvaluation,
    plainHttp: plainHttpOf(env),
  };
  requireValid(() => new AddressPolicy(policy), 'EGRESS_ALLOW must list CIDRs, addresses or host names');
  return policy;
}

function configuredProxy(env: Env): ProxyOptions | undefined {
  const url = env.get('OUTBOUND_PROXY');
  if (url === undefined) {
    return undefined;
  }
  const proxy = {
    url,
    target: env.get('OUTBOUND_PROXY_TARGET'),
    direct: env.get('OUTBOUND_NO_PROXY'),
    ...readAuthority(env),
  };
  requireValid(
    () => new OutboundProxy(proxy),
    'OUTBOUND_NO_PROXY must list host names, .suffixes, addresses or CIDRs',
  );
  return proxy;
}

function requireValid(parse: () => unknown, rule: string): void {
  try {
    parse();
  } catch {
    throw new EnvError([`${rule}, each with an optional :port`]);
  }
}
