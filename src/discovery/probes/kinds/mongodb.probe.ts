import { isJsonObject } from '#engine/json';
import { checkServerIdentity } from 'node:tls';
import type { Document, MongoClientOptions } from 'mongodb';
import type { Component } from '../../model/component.types.js';
import { addressesOf } from '../net/component-options.js';
import { adoptingSockets, loadDriver } from '../net/probe-sockets.js';
import { versionOf, wholeNumber } from '../net/self-description.js';
import { connectionsOf, warnOfCertificate } from '../net/warnings.js';
import { probeLookup, tlsTrustOf, usesTls } from '../net/open-socket.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';
import { toProbeError } from '../net/probe-failure.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';

const PORT = 27_017;
/** https://www.mongodb.com/docs/manual/reference/error-codes/ */
const CODES: Readonly<Record<string, ProbeFailure>> = {
  '13': 'forbidden',
  '18': 'auth',
  '8000': 'auth',
  '11600': 'down',
  '91': 'down',
};
const NAMES: Readonly<Record<string, ProbeFailure>> = {
  MongoParseError: 'protocol',
  MongoCompatibilityError: 'protocol',
  MongoNetworkTimeoutError: 'timeout',
};
const MAX_CAUSES = 5;
const STATUS: Document = { serverStatus: 1, metrics: 0, wiredTiger: 0, repl: 0, locks: 0 };

/** Checks a MongoDB server or cluster: version and connections, as counted by the server that responds. */
export async function probeMongodb(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const options: MongoClientOptions = {
    ...optionsOf(component, context),
    checkServerIdentity: (host, certificate) => {
      warnOfCertificate(certificate.valid_to, context);
      return checkServerIdentity(host, certificate);
    },
  };
  const { MongoClient } = await loadDriver('mongodb', () => import('mongodb'));
  try {
    const client = new MongoClient(addressOf(component), options);
    context.onEnd(() => void client.close(true).catch(() => undefined));
    return found(await adoptingSockets(context, () => client.db('admin').command(STATUS)), context);
  } catch (error) {
    throw failureOf(error, context);
  }
}

function addressOf(component: Component): string {
  return component.endpoint.startsWith('mongodb+srv:')
    ? component.endpoint
    : `mongodb://${component.endpoint.replace(/^mongodb:\/\//, '').replace(/\/.*$/, '')}/`;
}

function optionsOf(component: Component, { timeoutMs }: ProbeContext): MongoClientOptions {
  const { scheme, servers } = addressesOf(component, PORT);
  const { username, password = '' } = component.credentials ?? {};
  const isSrv = scheme === 'mongodb+srv';
  const { ca } = tlsTrustOf(component);
  return {
    appName: 'svc-platform',
    directConnection: servers.length === 1 && !isSrv,
    readPreference: 'primaryPreferred',
    maxPoolSize: 1,
    retryReads: false,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    // The driver retries until then. Its last error is more specific than our deadline.
    serverSelectionTimeoutMS: Math.ceil(timeoutMs * 0.7),
    // Avoid a second connection that measures round trips, and repeated checks of the server.
    serverMonitoringMode: 'poll',
    heartbeatFrequencyMS: 60_000,
    lookup: probeLookup,
    tls: isSrv || usesTls(component, scheme),
    ...(ca === undefined ? {} : { ca }),
    ...(username === undefined
      ? {}
      : { auth: { username, password }, authSource: component.options.authSource ?? 'admin' }),
  };
}

function found(status: Document, context: ProbeContext): ProbeFinding {
  const counts: unknown = status['connections'];
  if (!isJsonObject(counts)) {
    throw new ProbeError('protocol');
  }
  const current = wholeNumber(counts['current']);
  const active = Math.min(current, wholeNumber(counts['active'] ?? current));
  const max = current + wholeNumber(counts['available']);
  return {
    type: 'mongodb',
    version: versionOf(status['version']),
    connections: connectionsOf({ active, idle: current - active, max }, context),
  };
}

/** Returns the failure for a driver error, which wraps an error of each server; the first known one counts. */
function failureOf(error: unknown, { signal }: ProbeContext): ProbeError {
  const seen = [error];
  for (let index = 0; index < seen.length && index < MAX_CAUSES; index += 1) {
    seen.push(...causesOf(seen[index] as MongoFailure));
  }
  for (const each of seen as MongoFailure[]) {
    const failure = CODES[String(each.code)] ?? NAMES[each.name ?? ''];
    if (failure !== undefined) {
      return new ProbeError(failure);
    }
  }
  // No server was found in time, and none reported an error: they did not respond.
  const isSilence = seen.length === 1 && (error as MongoFailure).name === 'MongoServerSelectionError';
  return isSilence ? new ProbeError('timeout') : toProbeError(seen.at(-1), signal);
}

function causesOf({ cause, reason }: MongoFailure): unknown[] {
  const servers = [...(reason?.servers?.values() ?? [])].map((server) => server.error);
  return [...servers, cause].filter((each) => each instanceof Error);
}

interface MongoFailure {
  name?: string;
  code?: unknown;
  cause?: unknown;
  reason?: { servers?: Map<string, { error: unknown }> };
}
