import type {
  CreateSystemPayloadWritable,
  ReplaceSecretRequestWritable,
  SystemResponse,
  UpdateSystemRequestWritable,
} from '../../../../client/src/index.js';
import { numberFault } from '../../parts/numbers.js';
import { headersOf, rowFaults, type HeadersDraft } from './headers-draft.js';

/** Ways in which the service shows a server who it is. */
export type AuthorizationType = SystemResponse['authorization']['type'];
/** What a service account proves itself with. */
export type ProofKind = 'clientSecret' | 'privateKey';

/** The word before a key that a header usually has. */
export function usualScheme(headerName: string): string {
  return headerName.trim().toLowerCase() === 'authorization' ? 'Bearer' : '';
}

/** What a person writes about a system and its connection. Secrets are never read, so they begin empty. */
export interface ConnectionDraft {
  name: string;
  description: string;
  baseUrl: string;
  type: AuthorizationType;
  clientId: string;
  identityProviderUrl: string;
  scope: string;
  /** Further fields of the token request: `name=value`, one a line. */
  tokenParameters: string;
  proof: ProofKind;
  keyId: string;
  headerName: string;
  scheme: string;
  /** Client secret, private key or API key. */
  secret: string;
  tls: TlsDraft;
  headers: HeadersDraft;
  /** Milliseconds; empty for the deadline of the deployment. */
  timeoutMs: string;
}

/** Certificates that a person writes; where a field is left empty, what is stored stays. */
export interface TlsDraft {
  caCertificates: string;
  clientCertificate: string;
  clientKey: string;
  /** Stored authorities, or the stored certificate with its key, go. */
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

/** A system that is not there yet. */
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

/** A system as it is stored. */
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

/** What registers a system. */
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

/** What changes a system; a secret that was left empty stays. */
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

/** Stored secrets that must be given again: those of the account, the key of the client certificate, and static headers. */
export interface RepeatedSecrets {
  account: boolean;
  clientKey: boolean;
  headers: boolean;
}

/** What a change must repeat: stored secrets follow neither to another address nor to one that others vouch for. */
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

/** Whether the stored secret of the account is one for the changed account, too. */
export function keepsSecret(draft: ConnectionDraft, before: ConnectionDraft): boolean {
  return draft.type === before.type && draft.proof === before.proof && before.type !== 'NO_AUTH';
}

/** What is wrong with the time-out of a draft. */
export function timeoutFault({ timeoutMs }: ConnectionDraft): string | undefined {
  return numberFault(timeoutMs, true);
}

/** Whether a draft cannot be sent: a field holds no value, or a secret that must be given again is still missing. */
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

/** What replaces the secret of a system. */
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

/** Null removes; a certificate goes with its key. */
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

/** Null removes what is stored, and is nothing for a new system. */
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
