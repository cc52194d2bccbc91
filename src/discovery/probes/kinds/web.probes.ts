import { AwsV4Signer } from 'aws4fetch';
import { isJsonObject } from '#engine/json';
import { httpUrlOf } from '../http/probe-http.js';
import type { ProbeOfKind } from '../http/probe-clients.js';
import { capabilitiesOf, records, versionOf } from '../net/self-description.js';
import { failureOfStatus, ProbeError, type ProbeFailure } from '../../model/failures.js';

/** Checks an Elasticsearch or OpenSearch cluster. Needs an account with the cluster privilege `monitor`. */
export const probeElasticsearch: ProbeOfKind = async (component, context, clients) => {
  const http = clients.open(component, context);
  const { version } = await http.object('/');
  if (!isJsonObject(version)) {
    throw new ProbeError('protocol');
  }
  const { status } = await http.object('/_cluster/health');
  if (status !== 'green' && status !== 'yellow') {
    throw new ProbeError(status === 'red' ? 'down' : 'protocol');
  }
  if (status === 'yellow') {
    context.warn({ code: 'degraded' });
  }
  return {
    type: version['distribution'] === 'opensearch' ? 'opensearch' : 'elasticsearch',
    version: versionOf(version['number']),
  };
};

/** Checks an OpenID Connect issuer: its document must match the issuer, and its key set must have keys. */
export const probeOidc: ProbeOfKind = async (component, context, clients) => {
  const http = clients.open({ ...component, credentials: null }, context);
  const { issuer, jwks_uri: keysUrl } = await http.object('/.well-known/openid-configuration');
  if (!isSame(issuer, http.base) || typeof keysUrl !== 'string' || !URL.canParse(keysUrl)) {
    throw new ProbeError('protocol');
  }
  const { keys } = await http.object(httpUrlOf(keysUrl));
  const found = records(keys);
  if (found.length === 0) {
    throw new ProbeError('down');
  }
  return { capabilities: capabilitiesOf(found.map(({ alg }) => alg)) };
};

/** Compares URLs ignoring trailing slashes, because endpoints of components have none. */
function isSame(issuer: unknown, endpoint: URL): boolean {
  return typeof issuer === 'string' && URL.canParse(issuer) && plain(new URL(issuer)) === plain(endpoint);
}

function plain(url: URL): string {
  return url.href.replace(/\/+$/, '');
}

/** Statuses with which token endpoints reject a request without client: by RFC 6749, section 5.2, and in practice. */
const REFUSALS = new Set([400, 401, 405, 415, 422]);

/** Checks an OAuth token endpoint with a request without client, so that a scan never attempts to sign in. */
export const probeTokenEndpoint: ProbeOfKind = async (component, context, clients) => {
  const http = clients.open({ ...component, credentials: null }, context);
  const { status } = await http.post(http.base, { grant_type: 'client_credentials' });
  if (!REFUSALS.has(status)) {
    // An endpoint that accepts such a request is not a token endpoint.
    throw new ProbeError(failureOfStatus(status) ?? 'protocol');
  }
  return {};
};

const S3_CODES: Readonly<Record<string, ProbeFailure>> = {
  AccessDenied: 'forbidden',
  AllAccessDisabled: 'forbidden',
  InvalidAccessKeyId: 'auth',
  SignatureDoesNotMatch: 'auth',
  ExpiredToken: 'auth',
  InvalidToken: 'auth',
  RequestTimeTooSkewed: 'auth',
  SlowDown: 'down',
  ServiceUnavailable: 'down',
};

/** The root element of a ListBuckets response. */
const LISTING = /^\s*(?:<\?xml[^>]*>\s*)?<ListAllMyBucketsResult[\s>]/;

/** Checks storage with the S3 API: number of buckets. Needs an account with s3:ListAllMyBuckets. */
export const probeS3: ProbeOfKind = async (component, context, clients) => {
  const { username: accessKeyId, password: secretAccessKey } = component.credentials ?? {};
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ProbeError('configuration');
  }
  const { region = 'us-east-1' } = component.options;
  // The keys only sign the request and are never sent.
  const http = clients.open({ ...component, credentials: null }, context);
  const url = http.below('/');
  const datetime = new Date(context.now()).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const keys = { accessKeyId, secretAccessKey, region, service: 's3' };
  const { headers } = await new AwsV4Signer({ ...keys, url: url.href, datetime }).sign();
  headers.delete('host');
  const answer = await http.get(url, Object.fromEntries(headers));
  const failure = S3_CODES[/<Code>(\w{1,64})<\/Code>/.exec(answer.body)?.[1] ?? ''];
  if (failureOfStatus(answer.status) !== undefined && failure !== undefined) {
    throw new ProbeError(failure);
  }
  return { buckets: bucketsIn(answer.expectOk().body) };
};

/** Counts the buckets. @throws ProbeError `protocol` when the text is not a ListBuckets response */
function bucketsIn(xml: string): number {
  if (!LISTING.test(xml)) {
    throw new ProbeError('protocol');
  }
  return xml.match(/<Bucket[\s>]/g)?.length ?? 0;
}
