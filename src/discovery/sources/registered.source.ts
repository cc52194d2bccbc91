import { createHash } from 'node:crypto';
import { databaseServer } from '../../platform/config/database-url.js';
import type { Env } from '../../platform/config/env.js';
import { readAuthority } from '../../platform/tls/authority-file.js';
import { AuthorizationType } from '../../systems/model/system.types.js';
import type { McpServerRow } from '../../systems/storage/system.entity.js';
import type { SystemsService } from '../../systems/registration/systems.service.js';
import { type Component, componentOf, type ComponentOptions } from '../model/component.types.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { declare } from './configuration/declared-component.js';
import { SourceError } from '../model/failures.js';

const PAGE_SIZE = 1_000;
const HASH_LENGTH = 8;
const APP_LENGTH = 20;
const RESOURCE_LENGTH = 30;
const HOST_LENGTH = 40;
const REGISTERED = { source: 'registered', trust: 'registered' } as const;

/**
 * Lists components that the service knows from its own settings and data: its database, its single sign-on, and the MCP servers and token
 * endpoints of applications. A system in many versions is one component per address.
 */
export class RegisteredSource implements ComponentSource {
  readonly name = 'registered';

  constructor(
    private readonly env: Env,
    private readonly systems: SystemsService,
  ) {}

  async list(signal: AbortSignal): Promise<SourceListing> {
    const listing = new Listing(this.name);
    this.addDatabase(listing);
    this.addIssuer(listing);
    await this.addSystems(listing, signal);
    return listing.done();
  }

  private addDatabase(listing: Listing): void {
    const options = this.env.get('DATABASE_TLS') ? { tls: true, ...readAuthority(this.env) } : {};
    const server = databaseServer(this.env.get('DATABASE_URL') ?? '');
    if (server !== null) {
      const { endpoint, credentials } = server;
      const found = { ...REGISTERED, endpoint, credentials, options, trust: 'operator' as const };
      listing.add(componentOf('mysql', { key: 'database', name: 'Database of this service', ...found }));
    }
  }

  private addIssuer(listing: Listing): void {
    const issuer = this.env.get('OIDC_ISSUER');
    if (issuer !== undefined) {
      const raw = { key: 'singleSignOn', kind: 'oidc', name: 'Single sign-on', endpoint: issuer };
      listing.addDeclared(declare(raw, { source: this.name, path: ['OIDC_ISSUER'] }));
    }
  }

  /** Reads page by page, because every version of an application copies its systems and there may be very many. */
  private async addSystems(listing: Listing, signal: AbortSignal): Promise<void> {
    const known = new Map<string, Set<string>>();
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: McpServerRow[] = await this.systems.mcpServers(after, PAGE_SIZE);
      if (signal.aborted) {
        throw new SourceError('timeout');
      }
      for (const found of rows.flatMap(componentsOf)) {
        const apps = known.get(found.key);
        if (apps !== undefined) {
          found.apps.forEach((appId) => apps.add(appId));
          continue;
        }
        if (listing.isFull) {
          // Continue anyway: a listed token endpoint may also belong to applications on later pages.
          listing.cut();
          continue;
        }
        known.set(found.key, found.apps);
        listing.add(found);
      }
      after = rows.length < PAGE_SIZE ? undefined : rows.at(-1)?.id;
    }
  }
}

/** Returns the MCP server of a system and the token endpoint of its authorization. */
function componentsOf(system: McpServerRow): (Component & { apps: Set<string> })[] {
  const { appId, resourceName, resourceDefinitionId, authorizationType, identityProviderUrl } = system;
  const server = addressOf(system.baseUrl);
  const key = [
    'mcp',
    slug(appId, APP_LENGTH),
    slug(resourceName, RESOURCE_LENGTH),
    hash(`${resourceDefinitionId} ${server.endpoint}`),
  ].join('-');
  const authorizationRequired = authorizationType !== AuthorizationType.NoAuth;
  const mcp = componentOf('mcp', {
    ...REGISTERED,
    key,
    name: `${appId}/${resourceName}`,
    endpoint: server.endpoint,
    options: { authorizationRequired, ...server.options },
  });
  const found = identityProviderUrl === null ? [mcp] : [mcp, tokenEndpoint(identityProviderUrl)];
  return found.map((one) => ({ ...one, apps: new Set([appId]) }));
}

function tokenEndpoint(url: string): Component {
  const { endpoint, host, options } = addressOf(url);
  const key = `token-${slug(host, HOST_LENGTH)}-${hash(endpoint)}`;
  const name = `Token endpoint of ${host}`;
  return componentOf('token-endpoint', { ...REGISTERED, key, name, endpoint, options });
}

/** Moves the query, which may contain a key of the server, to the options, which only the probe reads. */
function addressOf(text: string): { endpoint: string; host: string; options: ComponentOptions } {
  const { protocol, host, pathname, searchParams } = new URL(text);
  const query = Object.fromEntries(searchParams);
  return {
    endpoint: `${protocol}//${host}${pathname}`,
    host,
    options: Object.keys(query).length === 0 ? {} : { query },
  };
}

function slug(text: string, length: number): string {
  return text.replace(/[^A-Za-z0-9]+/g, '-').slice(0, length);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}
