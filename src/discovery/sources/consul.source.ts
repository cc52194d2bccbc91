import { z } from 'zod';
import type { Env } from '../../platform/config/env.js';
import type { Settings } from '../../platform/config/env.schema.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { discovered } from './configuration/declared-component.js';
import { EndpointError, parseEndpoint } from './configuration/endpoint.js';
import { inParallel } from '../../platform/concurrency/in-parallel.js';
import { SourceError } from '../model/failures.js';
import { askingSource } from './source-http.js';

const AT_ONCE = 8;
const ALL = '*';
/** Name under which Consul lists its own servers. */
const CONSUL_ITSELF = 'consul';
const META = 'svc-platform-';

const catalogSchema = z.record(z.string(), z.array(z.string()));
const instanceSchema = z.object({
  Node: z.object({ Address: z.string() }),
  Service: z.object({
    ID: z.string(),
    Address: z.string(),
    Port: z.int(),
    Meta: z.record(z.string(), z.string()).nullish(),
  }),
  Checks: z.array(z.object({ Status: z.string() })).nullish(),
});
const instancesSchema = z.array(instanceSchema);

type Instance = z.output<typeof instanceSchema>;

/** Lists services of the Consul catalog with the tag of DISCOVERY_SOURCES, described by their metadata. */
export class ConsulSource implements ComponentSource {
  readonly name = 'consul';

  constructor(
    private readonly env: Env,
    private readonly settings: NonNullable<Settings['DISCOVERY_SOURCES']['consul']>,
  ) {}

  async list(signal: AbortSignal): Promise<SourceListing> {
    const listing = new Listing(this.name);
    const { url, tag, tokenFrom } = this.settings;
    const token = tokenFrom === undefined ? undefined : this.env.variable(tokenFrom);
    const headers: Record<string, string> = token === undefined ? {} : { 'x-consul-token': token };
    return askingSource({ base: baseOf(url), headers }, signal, async (ask) => {
      const catalog = await ask('/v1/catalog/services', catalogSchema);
      const names = Object.keys(catalog)
        .filter((name) => name !== CONSUL_ITSELF && (tag === ALL || catalog[name]?.includes(tag) === true))
        .toSorted();
      const found = await inParallel(listing.first(names), AT_ONCE, async (name) => {
        const path = `/v1/health/service/${encodeURIComponent(name)}`;
        return { name, instances: await ask(path, instancesSchema) };
      });
      found.forEach(({ name, instances }) => addService(listing, name, instances));
      return listing.done();
    });
  }
}

/** Returns the base URL, which must not contain name and password: Consul uses only tokens. */
function baseOf(url: string): string {
  try {
    const { endpoint, credentials } = parseEndpoint('http', url);
    if (credentials === null) {
      return endpoint;
    }
  } catch (error) {
    if (!(error instanceof EndpointError)) {
      throw error;
    }
  }
  throw new SourceError('configuration');
}

/** Adds one component per service, at an instance whose checks pass if there is one. */
function addService(listing: Listing, name: string, instances: Instance[]): void {
  const sorted = instances.toSorted((one, other) => (one.Service.ID < other.Service.ID ? -1 : 1));
  const instance =
    sorted.find(({ Checks }) => Checks?.every(({ Status }) => Status === 'passing') ?? true) ?? sorted[0];
  if (instance === undefined) {
    return;
  }
  const { Service, Node } = instance;
  const declared = discovered({
    source: 'consul',
    path: [name],
    key: name,
    host: Service.Address || Node.Address,
    port: Service.Port,
    version: Service.Meta?.['version'],
    note: (field) => Service.Meta?.[`${META}${field}`],
  });
  listing.addDeclared(declared);
}
