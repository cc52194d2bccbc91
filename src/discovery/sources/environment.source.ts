import type { Env } from '../../platform/config/env.js';
import { COMPONENT_KINDS, type ComponentKind } from '../model/component.types.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { declare, type Declaration } from './configuration/declared-component.js';
import { EndpointError, KIND_SCHEMES, parseEndpoint } from './configuration/endpoint.js';

const SERVICE = 'PLATFORM_SERVICE_';
const INFRASTRUCTURE = 'PLATFORM_INFRA_';
const UNKNOWN_SCHEME = 'must start with the scheme of a kind, such as postgres://, or with kind+http://';

/** Lists components from shorthands in the environment: `PLATFORM_SERVICE_<KEY>=url`, `PLATFORM_INFRA_<KEY>=postgres://…`. */
export class EnvironmentSource implements ComponentSource {
  readonly name = 'environment';

  constructor(private readonly env: Env) {}

  async list(): Promise<SourceListing> {
    const listing = new Listing(this.name);
    for (const prefix of [SERVICE, INFRASTRUCTURE]) {
      for (const { name, value } of this.env.variablesFrom(prefix)) {
        listing.addDeclared(shorthand(name, prefix, value));
      }
    }
    return listing.done();
  }
}

function shorthand(variable: string, prefix: string, value: string): Declaration {
  const key = keyOf(variable.slice(prefix.length));
  try {
    const { kind, address } =
      prefix === SERVICE ? { kind: 'http' as const, address: value } : infrastructureOf(value);
    const options = optionsOf(parseEndpoint(kind, address).query);
    const endpoint = address.split('?')[0];
    return declare({ key, kind, endpoint, options }, { source: 'environment', path: [variable] });
  } catch (error) {
    if (error instanceof EndpointError) {
      return { key, mistakes: [`${variable} ${error.message}`] };
    }
    throw error;
  }
}

/** Returns kind and address. `elasticsearch+https://…` selects a kind with HTTP addresses; other schemes belong to one kind. */
function infrastructureOf(value: string): { kind: ComponentKind; address: string } {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase() ?? '';
  const [kind] = scheme.split('+');
  if (scheme !== 'mongodb+srv' && scheme.includes('+') && isKind(kind)) {
    return { kind, address: value.slice(value.indexOf('+') + 1) };
  }
  const kinds = Object.keys(KIND_SCHEMES).filter(isKind);
  const owners = kinds.filter((owner) => KIND_SCHEMES[owner].some((candidate) => candidate === scheme));
  const [owner] = owners;
  if (owner === undefined || owners.length > 1) {
    throw new EndpointError(UNKNOWN_SCHEME);
  }
  return { kind: owner, address: value };
}

function isKind(text: string | undefined): text is ComponentKind {
  return text !== undefined && text !== 'self' && Object.hasOwn(COMPONENT_KINDS, text);
}

/** Returns the key for a variable: `documentManagement` for `DOCUMENT_MANAGEMENT`; names with lowercase letters are unchanged. */
function keyOf(name: string): string {
  if (/[a-z]/.test(name)) {
    return name;
  }
  return name
    .toLowerCase()
    .replace(/^_+|_+$/g, '')
    .replace(/_+(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Converts query parameters to options; texts that look like booleans or numbers become such. */
function optionsOf(query: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [
      name,
      /^(true|false|0|[1-9]\d{0,8})$/.test(text) ? JSON.parse(text) : text,
    ]),
  );
}
