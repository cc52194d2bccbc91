import type { JSONWebKeySet } from 'jose';
import { Agent, fetch, type Dispatcher } from 'undici';
import { isJsonObject } from '#engine/json';
import { tokenLimits } from './token.limits.js';

/**
 * Thrown when the discovery document or key set cannot be loaded. The message is only a category for logs, because
 * addresses may contain credentials.
 */
export class IssuerDocumentError extends Error {
  override readonly name = 'IssuerDocumentError';
}

const DOCUMENT_MAX_BYTES = 262_144;
const WELL_KNOWN = '/.well-known/openid-configuration';

/**
 * Fetches the signing keys of an issuer: first the discovery document (OpenID Connect Discovery 1.0, section 4), whose
 * issuer must be the configured one, then the key set that it names (RFC 7517, section 5). Redirects are not followed.
 * @param onDiscovery receives the discovery document once it is known to be that of the issuer
 * @throws IssuerDocumentError
 */
export async function fetchIssuerKeys(
  issuer: string,
  onDiscovery: (discovery: object) => void,
): Promise<JSONWebKeySet> {
  // The operator configured the address, so it is trusted, but the server may be slow or send too much.
  const { timeoutMs } = tokenLimits;
  const signal = AbortSignal.timeout(timeoutMs);
  const dispatcher = new Agent({ connect: { timeout: timeoutMs }, maxHeaderSize: 16_384 });
  try {
    const get = (url: string): Promise<unknown> => getJson(url, { signal, dispatcher });
    const discovery = await get(issuer.replace(/\/$/, '') + WELL_KNOWN);
    const address = keyAddress(discovery, issuer);
    onDiscovery(discovery as object);
    const keys = await get(address);
    const list: unknown = isJsonObject(keys) ? keys['keys'] : undefined;
    if (!Array.isArray(list) || list.length === 0) {
      throw new IssuerDocumentError('no_keys');
    }
    return keys as JSONWebKeySet;
  } finally {
    // At a few requests per minute, a kept connection saves nothing, and a hung one must not stay open.
    void dispatcher.destroy();
  }
}

function keyAddress(discovery: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: keys } = (discovery ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) {
    throw new IssuerDocumentError('other_issuer');
  }
  if (typeof keys !== 'string' || !URL.canParse(keys)) {
    throw new IssuerDocumentError('no_keys');
  }
  const allowed = issuer.startsWith('https:') ? ['https:'] : ['https:', 'http:'];
  if (!allowed.includes(new URL(keys).protocol)) {
    throw new IssuerDocumentError('insecure_keys');
  }
  return keys;
}

interface RequestContext {
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
}

async function getJson(url: string, context: RequestContext): Promise<unknown> {
  const text = await getText(url, context).catch((cause: unknown) => {
    throw cause instanceof IssuerDocumentError
      ? cause
      : new IssuerDocumentError(context.signal.aborted ? 'timeout' : 'unreachable', { cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new IssuerDocumentError('not_json', { cause });
  }
}

async function getText(url: string, context: RequestContext): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'manual',
    ...context,
  });
  if (response.status !== 200) {
    throw new IssuerDocumentError('http_status');
  }
  return boundedText(response.body, DOCUMENT_MAX_BYTES, () => new IssuerDocumentError('too_large'));
}

/**
 * Reads a body as UTF-8.
 * @throws the error of `tooLarge` when the body has more than `maxBytes`
 */
export async function boundedText(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      throw tooLarge();
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
