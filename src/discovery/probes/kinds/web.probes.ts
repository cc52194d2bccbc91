import { AwsV4Signer } from 'aws4fetch';
import { isJsonObject } from '#engine/json';
import { httpUrlOf } from '../http/probe-http.js';
import type { ProbeOfKind } from '../http/probe-clients.js';
import { capabilitiesOf, records, versionOf } from '../net/self-description.js';
import { failureOfStatus, ProbeError, type ProbeFailure } from '../../model/failures.js';

/** Looks at an Elasticsearch or OpenSearch cluster. Needs an account with the cluster privilege monitor. */
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

/** Looks at an OpenID Connect issuer: its document names it, and its key set has keys. */
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

/** The endpoint of a component has no slash at its end, whatever the issuer calls itself. */
function isSame(issuer: unknown, endpoint: URL): boolean {
  return typeof issuer === 'string' && URL.canParse(issuer) && plain(new URL(issuer)) === plain(endpoint);
}

function plain(url: URL): string {
  return url.href.replace(/\/+$/, '');
}

/** How token endpoints refuse a request without client: by RFC 6749, section 5.2, and in the ways of deployed ones. */
const REFUSALS = new Set([400, 401, 405, 415, 422]);

/** Looks at an OAuth token endpoint by a request without client: a scan is no attempt to sign in. */
export const probeTokenEndpoint: ProbeOfKind = async (component, context, clients) => {
  const http = clients.open({ ...component, credentials: null }, context);
  const { status } = await http.post(http.base, { grant_type: 'client_credentials' });
  if (!REFUSALS.has(status)) {
    // Whoever has nothing against such a request is no token endpoint.
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

/** The root element of an answer to ListBuckets. */
const LISTING = /^\s*(?:<\?xml[^>]*>\s*)?<ListAllMyBucketsResult[\s>]/;

/** Looks at storage with the S3 interface: how many buckets there are. Needs an account with s3:ListAllMyBuckets. */
export const probeS3: ProbeOfKind = async (component, context, clients) => {
  const { username: accessKeyId, password: secretAccessKey } = component.credentials ?? {};
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ProbeError('configuration');
  }
  const { region = 'us-east-1' } = component.options;
  // The keys sign the request; they are never sent themselves.
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

/** @throws ProbeError `protocol` when the text is not an answer to ListBuckets */
function bucketsIn(xml: string): number {
  if (!LISTING.test(xml)) {
    throw new ProbeError('protocol');
  }
  return xml.match(/<Bucket[\s>]/g)?.length ?? 0;
}
