import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Env } from '../../../config/env.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { discovered } from './configuration/declared-component.js';
import { EndpointError, parseEndpoint } from './configuration/endpoint.js';
import { inParallel } from '../../../common/in-parallel.js';
import { SourceError } from '../model/failures.js';
import { SourceHttp } from './source-http.js';

const AT_ONCE = 8;
const ALL = '*';
/** Consul lists its own servers, too. */
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

/** Services of the catalog of Consul with the tag of DISCOVERY_SOURCES, described by their metadata. */
@Injectable()
export class ConsulSource implements ComponentSource {
  readonly name = 'consul';

  constructor(private readonly env: Env) {}

  get isEnabled(): boolean {
    return this.consul !== undefined;
  }

  async list(signal: AbortSignal): Promise<SourceListing> {
    const listing = new Listing(this.name);
    const http = this.connect(signal);
    try {
      const names = this.wanted(await http.get('/v1/catalog/services', catalogSchema));
      const found = await inParallel(listing.first(names), AT_ONCE, async (name) => {
        const path = `/v1/health/service/${encodeURIComponent(name)}`;
        return { name, instances: await http.get(path, instancesSchema) };
      });
      found.forEach(({ name, instances }) => addService(listing, name, instances));
      return listing.done();
    } finally {
      await http.close();
    }
  }

  private get consul() {
    return this.env.get('DISCOVERY_SOURCES').consul;
  }

  private wanted(catalog: Record<string, string[]>): string[] {
    const tag = this.consul?.tag ?? ALL;
    return Object.keys(catalog)
      .filter((name) => name !== CONSUL_ITSELF && (tag === ALL || catalog[name]?.includes(tag) === true))
      .toSorted();
  }

  private connect(signal: AbortSignal): SourceHttp {
    const { url = '', tokenFrom } = this.consul ?? {};
    const token = tokenFrom === undefined ? undefined : this.env.variable(tokenFrom);
    return new SourceHttp({
      source: this.name,
      base: baseOf(url),
      headers: token === undefined ? {} : { 'x-consul-token': token },
      signal,
    });
  }
}

/** Name and password have no place in this address: Consul knows tokens only. */
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
  throw new SourceError('consul', 'configuration');
}

/** One component a service, at an instance whose checks pass if there is one. */
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
