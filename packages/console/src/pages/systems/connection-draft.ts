import type {
  CreateSystemPayloadWritable,
  ReplaceSecretRequestWritable,
  SystemResponse,
  UpdateSystemRequestWritable,
} from '../../../../client/src/index.js';
import { numberFault } from '../../parts/numbers.js';
import { headersOf, rowFaults, type HeadersDraft } from './headers-draft.js';

/** How the service authenticates at a server. */
export type AuthorizationType = SystemResponse['authorization']['type'];
/** Kind of credential of a service account. */
export type ProofKind = 'clientSecret' | 'privateKey';

/** Returns the usual scheme of an API key in a header. */
export function usualScheme(headerName: string): string {
  return headerName.trim().toLowerCase() === 'authorization' ? 'Bearer' : '';
}

/** Form values of a system and its connection. The service never returns secrets, so they start empty. */
export interface ConnectionDraft {
  name: string;
  description: string;
  baseUrl: string;
  type: AuthorizationType;
  clientId: string;
  identityProviderUrl: string;
  scope: string;
  /** Additional fields of the token request: `name=value`, one per line. */
  tokenParameters: string;
  proof: ProofKind;
  keyId: string;
  headerName: string;
  scheme: string;
  /** Client secret, private key or API key. */
  secret: string;
  tls: TlsDraft;
  headers: HeadersDraft;
  /** Milliseconds; empty for the timeout of the deployment. */
  timeoutMs: string;
}

/** Form values of certificates. Empty fields keep the stored values. */
export interface TlsDraft {
  caCertificates: string;
  clientCertificate: string;
  clientKey: string;
  /** Remove the stored CA certificates, or the stored client certificate and its key. */
  removesAuthorities: boolean;
  removesClient: boolean;
}

const NO_TLS: TlsDraft = {
  caCertificates: '',
  clientCertificate: '',
  clientKey: '',
  removesAuthorities: false,
  removesClient: false,
};

/** Form values of a new system. */
export const NEW_CONNECTION: ConnectionDraft = {
  name: '',
  description: '',
  baseUrl: '',
  type: 'NO_AUTH',
  clientId: '',
  identityProviderUrl: '',
  scope: '',
  tokenParameters: '',
  proof: 'clientSecret',
  keyId: '',
  headerName: 'Authorization',
  scheme: 'Bearer',
  secret: '',
  tls: NO_TLS,
  headers: { rows: [], removes: false },
  timeoutMs: '',
};

/** Returns the form values of a stored system. */
export function draftOf(system: SystemResponse): ConnectionDraft {
  const { name, description, baseUrl, authorization } = system;
  const timeoutMs = String(system.timeoutMs ?? '');
  const known = { ...NEW_CONNECTION, name, description, baseUrl, timeoutMs, type: authorization.type };
  switch (authorization.type) {
    case 'NO_AUTH':
      return known;
    case 'API_KEY': {
      const { headerName, scheme } = authorization.config;
      return { ...known, headerName, scheme: scheme ?? '' };
    }
    case 'SERVICE_ACCOUNT': {
      const { authenticationMethod, scope = '', tokenParameters = {}, ...account } = authorization.config;
      const proof = authenticationMethod === undefined ? 'clientSecret' : 'privateKey';
      const fields = { scope, tokenParameters: linesOf(tokenParameters) };
      return { ...known, ...account, ...fields, proof, keyId: account.keyId ?? '' };
    }
  }
}

/** Builds the request that registers a system. */
export function payloadOf(draft: ConnectionDraft): CreateSystemPayloadWritable {
  const { name, description, baseUrl } = draft;
  return {
    name,
    type: 'MCP',
    baseUrl,
    authorization: authorizationOf(draft),
    ...(description === '' ? {} : { description }),
    ...tlsPart(sentTls(draft.tls)),
    ...headersPart(draft.headers),
    ...timeoutPart(draft.timeoutMs),
  };
}

/** Builds the request that changes a system. An empty secret keeps the stored one. */
export function changesOf(draft: ConnectionDraft, before: ConnectionDraft): UpdateSystemRequestWritable {
  const { name, description, baseUrl } = draft;
  const authorization = changedAuthorization(draft, before);
  return {
    ...(name === before.name ? {} : { name }),
    ...(description === before.description ? {} : { description }),
    ...(baseUrl === before.baseUrl ? {} : { baseUrl }),
    ...(authorization === undefined ? {} : { authorization }),
    ...tlsPart(changedTls(draft.tls)),
    ...headersPart(draft.headers),
    ...(draft.timeoutMs === before.timeoutMs ? {} : { timeoutMs: null, ...timeoutPart(draft.timeoutMs) }),
  };
}

/** Stored secrets that must be entered again. */
export interface RepeatedSecrets {
  account: boolean;
  clientKey: boolean;
  headers: boolean;
}

/** Determines which secrets must be entered again: none is sent to a new address, or trusted to new CAs, without being repeated. */
export function repeatedSecrets(
  draft: ConnectionDraft,
  before: ConnectionDraft,
  { tls, headerNames }: Pick<SystemResponse, 'tls' | 'headerNames'>,
): RepeatedSecrets {
  const isElsewhere = goesElsewhere(draft, before);
  return {
    account: isElsewhere && keepsSecret(draft, before),
    clientKey: isElsewhere && tls?.hasClientKey === true && !draft.tls.removesClient,
    headers: isElsewhere && headerNames !== undefined && !draft.headers.removes,
  };
}

function goesElsewhere(draft: ConnectionDraft, before: ConnectionDraft): boolean {
  const hasAccount = draft.type === 'SERVICE_ACCOUNT';
  return (
    addressOf(draft.baseUrl) !== addressOf(before.baseUrl) ||
    (hasAccount && addressOf(draft.identityProviderUrl) !== addressOf(before.identityProviderUrl)) ||
    draft.tls.removesAuthorities ||
    draft.tls.caCertificates.trim() !== ''
  );
}

/** Whether the stored secret still fits the changed account. */
export function keepsSecret(draft: ConnectionDraft, before: ConnectionDraft): boolean {
  return draft.type === before.type && draft.proof === before.proof && before.type !== 'NO_AUTH';
}

/** Returns why the timeout is invalid, or undefined. */
export function timeoutFault({ timeoutMs }: ConnectionDraft): string | undefined {
  return numberFault(timeoutMs, true);
}

/** Whether a draft cannot be sent, because a field is invalid or a required secret is missing. */
export function isUnready(draft: ConnectionDraft, repeated?: RepeatedSecrets): boolean {
  return (
    timeoutFault(draft) !== undefined ||
    rowFaults(draft.headers).some((fault) => Object.keys(fault).length > 0) ||
    (repeated !== undefined && isSecretMissing(draft, repeated))
  );
}

function isSecretMissing({ secret, tls, headers }: ConnectionDraft, repeated: RepeatedSecrets): boolean {
  return (
    (repeated.account && secret === '') ||
    (repeated.clientKey && tls.clientKey.trim() === '') ||
    (repeated.headers && headersOf(headers) === undefined)
  );
}

function addressOf(text: string): string {
  return URL.parse(text)?.href ?? text;
}

/** Builds the request that replaces the secret of a system. */
export function replacementOf({ type, proof, secret, keyId }: ConnectionDraft): ReplaceSecretRequestWritable {
  if (type === 'API_KEY') {
    return { apiKey: secret };
  }
  return proof === 'clientSecret' ? { clientSecret: secret } : { privateKey: secret, ...keyIdOf(keyId) };
}

function sentTls({ caCertificates, clientCertificate, clientKey }: TlsDraft): Record<string, string> {
  const sent = Object.entries({ caCertificates, clientCertificate, clientKey });
  return Object.fromEntries(sent.filter(([, text]) => text.trim() !== ''));
}

/** Null removes a value. Removing the client certificate removes its key, too. */
function changedTls(tls: TlsDraft): Record<string, string | null> {
  const { removesAuthorities, removesClient } = tls;
  const { caCertificates, ...client } = sentTls(tls);
  const authorities = caCertificates === undefined ? {} : { caCertificates };
  return {
    ...(removesAuthorities ? { caCertificates: null } : authorities),
    ...(removesClient ? { clientCertificate: null } : client),
  };
}

function headersPart(draft: HeadersDraft): { headers?: Record<string, string> | null } {
  const headers = draft.removes ? null : headersOf(draft);
  return headers === undefined ? {} : { headers };
}

function timeoutPart(timeoutMs: string): { timeoutMs?: number } {
  return timeoutMs.trim() === '' ? {} : { timeoutMs: Number(timeoutMs) };
}

function tlsPart<Tls extends object>(tls: Tls): { tls?: Tls } {
  return Object.keys(tls).length === 0 ? {} : { tls };
}

function authorizationOf(draft: ConnectionDraft): CreateSystemPayloadWritable['authorization'] {
  const { type, clientId, identityProviderUrl, headerName, scheme, secret, proof, keyId } = draft;
  switch (type) {
    case 'NO_AUTH':
      return { type };
    case 'API_KEY':
      return { type, configuration: { headerName, scheme: scheme === '' ? null : scheme, apiKey: secret } };
    case 'SERVICE_ACCOUNT': {
      const account = { clientId, identityProviderUrl, ...tokenFields(draft) };
      return proof === 'clientSecret'
        ? { type, configuration: { ...account, clientSecret: secret } }
        : { type, configuration: { ...account, privateKey: secret, ...keyIdOf(keyId) } };
    }
  }
}

function changedAuthorization(
  draft: ConnectionDraft,
  before: ConnectionDraft,
): UpdateSystemRequestWritable['authorization'] {
  const { type, clientId, identityProviderUrl, headerName, scheme, secret, proof, keyId } = draft;
  const isSame = AUTHORIZATION_MEMBERS.every((member) => draft[member] === before[member]);
  if (isSame) {
    return undefined;
  }
  switch (type) {
    case 'NO_AUTH':
      return { type };
    case 'API_KEY': {
      const key = secret === '' ? {} : { apiKey: secret };
      return { type, configuration: { headerName, scheme: scheme === '' ? null : scheme, ...key } };
    }
    case 'SERVICE_ACCOUNT': {
      const proven = secret === '' ? {} : { [proof]: secret };
      const key = proof === 'privateKey' ? keyIdOf(keyId) : {};
      const account = { clientId, identityProviderUrl, ...tokenFields(draft) };
      return { type, configuration: { ...account, ...proven, ...key } };
    }
  }
}

const AUTHORIZATION_MEMBERS = [
  'type',
  'clientId',
  'identityProviderUrl',
  'scope',
  'tokenParameters',
  'proof',
  'keyId',
  'headerName',
  'scheme',
  'secret',
] as const;

function keyIdOf(keyId: string): { keyId?: string } {
  return keyId === '' ? {} : { keyId };
}

/** Null removes the stored value; for a new system it means none. */
function tokenFields({ scope, tokenParameters }: ConnectionDraft): {
  scope: string | null;
  tokenParameters: Record<string, string> | null;
} {
  const lines = tokenParameters.split('\n').filter((line) => line.trim() !== '');
  const members = lines.map((line) => {
    const [name = '', ...value] = line.split('=');
    return [name.trim(), value.join('=').trim()];
  });
  return {
    scope: scope.trim() === '' ? null : scope.trim(),
    tokenParameters: members.length === 0 ? null : Object.fromEntries(members),
  };
}

function linesOf(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}
