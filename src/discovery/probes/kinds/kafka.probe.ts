import type { Admin, KafkaConfig, SASLOptions } from 'kafkajs';
import { within } from '../../../platform/concurrency/deadline.js';
import type { Component } from '../../model/component.types.js';
import { brokersOf } from '../net/warnings.js';
import { addressesOf, type ServerAddress, type ServerAddresses } from '../net/component-options.js';
import { loadDriver, ProbeSockets } from '../net/probe-sockets.js';
import { tlsTrustOf, usesTls } from '../net/open-socket.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';

const PORT = 9_092;
/** Failures by name and type of the driver's errors; types are codes of Kafka. */
const FAILURES: Readonly<Record<string, ProbeFailure>> = {
  KafkaJSSASLAuthenticationError: 'auth',
  KafkaJSRequestTimeoutError: 'timeout',
  KafkaJSUnsupportedMagicByteInMessageSet: 'protocol',
  KafkaJSPartialMessageError: 'protocol',
  CLUSTER_AUTHORIZATION_FAILED: 'forbidden',
  TOPIC_AUTHORIZATION_FAILED: 'forbidden',
  SASL_AUTHENTICATION_FAILED: 'auth',
  ILLEGAL_SASL_STATE: 'auth',
  UNSUPPORTED_SASL_MECHANISM: 'auth',
  UNSUPPORTED_VERSION: 'protocol',
};
/** Internal topics of Kafka and its schema registry. */
const INTERNAL = /^(__|_schemas$)/;
const MAX_CAUSES = 5;

/** Maximum size of the first response, to ApiVersions, which has about 500 bytes. */
const MAX_FIRST_BYTES = 65_536;

/** Checks a Kafka cluster. Tries its addresses in turn, each with a share of the time. */
export async function probeKafka(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const addresses = addressesOf(component, PORT);
  const startedAt = performance.now();
  let failure: unknown;
  for (const [index, server] of addresses.servers.entries()) {
    const left = context.timeoutMs - (performance.now() - startedAt);
    const attempt = { server, addresses, ms: Math.floor(left / (addresses.servers.length - index)) };
    try {
      return await ask(component, context, attempt);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function ask(component: Component, context: ProbeContext, attempt: Attempt): Promise<ProbeFinding> {
  const sockets = new ProbeSockets(
    context,
    (first) => first.byteLength < 4 || first.readUInt32BE() <= MAX_FIRST_BYTES,
  );
  const config = configOf(component, attempt, sockets);
  const { Kafka, logLevel } = (await loadDriver('kafkajs', () => import('kafkajs'))).default;
  const admin = new Kafka({ ...config, logLevel: logLevel.NOTHING }).admin({ retry: { retries: 0 } });
  context.onEnd(() => void admin.disconnect().catch(() => undefined));
  try {
    // The driver's timeouts apply to each request; this one limits them all.
    const finding = await within(attempt.ms, describe(admin, component, attempt, context), () => {
      throw new ProbeError('timeout');
    });
    await admin.disconnect();
    return finding;
  } catch (error) {
    throw driverFailure(error) ?? sockets.toError(error);
  }
}

/** An attempt at one address, with its timeout in milliseconds. */
interface Attempt {
  server: ServerAddress;
  addresses: ServerAddresses;
  ms: number;
}

function configOf(component: Component, attempt: Attempt, sockets: ProbeSockets): KafkaConfig {
  const { server, addresses, ms } = attempt;
  const trust = usesTls(component, addresses.scheme) ? tlsTrustOf(component) : undefined;
  const { username, password = '' } = component.credentials ?? {};
  const { mechanism = 'plain' } = component.options;
  return {
    clientId: 'svc-platform',
    brokers: [`${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`],
    connectionTimeout: ms,
    requestTimeout: ms,
    authenticationTimeout: ms,
    retry: { retries: 0 },
    ssl: trust !== undefined,
    ...(username === undefined ? {} : { sasl: { mechanism, username, password } as SASLOptions }),
    socketFactory: ({ host, port, onConnect }) => {
      const socket = sockets.open({ host, port }, trust);
      return socket.once(trust === undefined ? 'connect' : 'secureConnect', onConnect);
    },
  };
}

async function describe(
  admin: Admin,
  { options }: Component,
  { addresses }: Attempt,
  context: ProbeContext,
): Promise<ProbeFinding> {
  await admin.connect();
  const cluster = await admin.describeCluster();
  const { topics } = await admin.fetchTopicMetadata();
  const lacking = topics
    .flatMap(({ partitions }) => partitions)
    .filter(({ isr, replicas }) => isr.length < replicas.length).length;
  if (lacking > 0) {
    context.warn({ code: 'under_replicated', partitions: lacking });
  }
  const expected = options.expectedBrokers ?? addresses.servers.length;
  return {
    type: 'kafka',
    brokers: brokersOf(cluster.brokers.length, expected, context),
    topics: topics.filter(({ name }) => !INTERNAL.test(name)).length,
  };
}

function driverFailure(error: unknown): ProbeError | undefined {
  let current = error as { name?: string; type?: string; cause?: unknown } | undefined;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth += 1) {
    const failure = FAILURES[current.type ?? ''] ?? FAILURES[current.name ?? ''];
    if (failure !== undefined) {
      return new ProbeError(failure);
    }
    current = current.cause as typeof current;
  }
  return undefined;
}
