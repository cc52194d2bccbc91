import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Env } from '../../platform/config/env.js';
import type { Settings } from '../../platform/config/env.schema.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { discovered } from './configuration/declared-component.js';
import { endpointOf } from './configuration/endpoint.js';
import { SourceError } from '../model/failures.js';
import { askingSource, type AskSource } from './source-http.js';
import { discoveryLimits } from '../discovery.limits.js';

const PAGE_SIZE = 250;
const ALL = '*';
const HTTPS_PORT = 443;
const ANNOTATION = 'svc.platform/';
const VERSION_LABEL = 'app.kubernetes.io/version';

const portSchema = z.object({
  name: z.string().optional(),
  appProtocol: z.string().nullish(),
  port: z.int(),
});
const serviceSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  spec: z.object({ ports: z.array(portSchema).nullish() }),
});
const pageSchema = z.object({
  kind: z.literal('ServiceList'),
  metadata: z.object({ continue: z.string().nullish() }),
  items: z.array(serviceSchema),
});

type KubernetesService = z.output<typeof serviceSchema>;
type Port = z.output<typeof portSchema>;

/** Lists Kubernetes services with the label of DISCOVERY_SOURCES, using the service account of the pod. */
export class KubernetesSource implements ComponentSource {
  readonly name = 'kubernetes';

  constructor(
    private readonly env: Env,
    private readonly settings: NonNullable<Settings['DISCOVERY_SOURCES']['kubernetes']>,
  ) {}

  async list(signal: AbortSignal): Promise<SourceListing> {
    const listing = new Listing(this.name);
    const address = await this.address(signal);
    const { namespaces } = this.settings;
    const places = namespaces.includes(ALL)
      ? ['/api/v1/services']
      : namespaces.map((namespace) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`);
    const isOneNamespace = namespaces.length === 1 && !namespaces.includes(ALL);
    return askingSource(address, signal, async (ask) => {
      for (const place of places) {
        await this.addServices(ask, place, isOneNamespace, listing);
      }
      return listing.done();
    });
  }

  /** Reads page by page until the last one, or until the listing is full. */
  private async addServices(
    ask: AskSource,
    place: string,
    isOneNamespace: boolean,
    listing: Listing,
  ): Promise<void> {
    const { label: labelSelector } = this.settings;
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ labelSelector, limit: String(PAGE_SIZE) });
      if (token !== undefined) {
        query.set('continue', token);
      }
      const page = await ask(`${place}?${query.toString()}`, pageSchema);
      page.items.forEach((service) => addService(listing, service, isOneNamespace));
      token = page.metadata.continue || undefined;
      if (token !== undefined && listing.isFull) {
        listing.cut();
        return;
      }
    } while (token !== undefined);
  }

  private async address(signal: AbortSignal) {
    const host = this.env.variable('KUBERNETES_SERVICE_HOST');
    if (host === undefined) {
      throw new SourceError('configuration');
    }
    const port = Number(this.env.variable('KUBERNETES_SERVICE_PORT') ?? HTTPS_PORT);
    const [token, ca] = await Promise.all([
      this.accountFile('token', signal),
      this.accountFile('ca.crt', signal),
    ]);
    const headers = { authorization: `Bearer ${token.trim()}` };
    return { base: endpointOf('http', 'https', host, port), headers, ca };
  }

  private async accountFile(name: string, signal: AbortSignal): Promise<string> {
    try {
      const path = join(discoveryLimits.kubernetesAccountDir, name);
      return await readFile(path, { encoding: 'utf8', signal });
    } catch {
      throw new SourceError('unreadable', name);
    }
  }
}

function addService(listing: Listing, { metadata, spec }: KubernetesService, isOneNamespace: boolean): void {
  const { name, namespace } = metadata;
  const note = (annotation: string) => metadata.annotations?.[`${ANNOTATION}${annotation}`];
  const key = isOneNamespace ? name : `${name}-${namespace}`;
  const port = portOf(spec.ports ?? [], note('port'));
  if (port === undefined) {
    listing.reject(`${namespace}.${name}`, 'The service has no port, or lacks the port in its annotation.');
    return;
  }
  const declared = discovered({
    source: 'kubernetes',
    path: [namespace, name],
    key,
    host: `${name}.${namespace}.svc`,
    port: port.port,
    isSecure: isSecure(port),
    version: metadata.labels?.[VERSION_LABEL],
    note,
  });
  listing.addDeclared(declared);
}

/** Returns the port that the annotation names (by name or number), else the one called http or https, else the first one. */
function portOf(ports: Port[], wanted: string | undefined): Port | undefined {
  return wanted === undefined
    ? (ports.find(({ name }) => name === 'http' || name === 'https') ?? ports[0])
    : ports.find(({ name, port }) => name === wanted || String(port) === wanted);
}

function isSecure({ name, appProtocol, port }: Port): boolean {
  return name === 'https' || appProtocol === 'https' || port === HTTPS_PORT;
}
