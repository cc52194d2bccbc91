import { promises as dns, type SrvRecord } from 'node:dns';
import type { Settings } from '../../platform/config/env.schema.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { discovered } from './configuration/declared-component.js';
import { inParallel } from '../../platform/concurrency/in-parallel.js';
import { SourceError, type SourceFailure } from '../model/failures.js';
import { discoveryLimits } from '../discovery.limits.js';

const AT_ONCE = 8;
const TRIES = 2;
const SCHEMES = ['http', 'https'] as const;
/** Error codes for a missing name or record. */
const ABSENT = ['ENOTFOUND', 'ENODATA'];
const FAILURES: Readonly<Record<string, SourceFailure>> = {
  ETIMEOUT: 'timeout',
  ECANCELLED: 'timeout',
  ECONNREFUSED: 'refused',
};

interface Found extends SrvRecord {
  scheme: (typeof SCHEMES)[number];
  /** `name=value` pairs in the TXT records of the host, one pair per text (RFC 6763, section 6.3). */
  texts: ReadonlyMap<string, string>;
}

/** Lists services in SRV records (RFC 2782) of the domains in DISCOVERY_SOURCES, described by TXT records. */
export class DnsSource implements ComponentSource {
  readonly name = 'dns';

  constructor(private readonly settings: NonNullable<Settings['DISCOVERY_SOURCES']['dns']>) {}

  async list(signal: AbortSignal): Promise<SourceListing> {
    const listing = new Listing(this.name);
    const resolver = this.resolver();
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for (const domain of this.settings.domains) {
        await this.addDomain(resolver, domain, listing);
      }
      return listing.done();
    } catch (error) {
      throw new SourceError(signal.aborted ? 'timeout' : (FAILURES[codeOf(error)] ?? 'dns'));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  private async addDomain(resolver: dns.Resolver, domain: string, listing: Listing): Promise<void> {
    const records = await inParallel(SCHEMES, AT_ONCE, async (scheme) => {
      const found = await recordsOrNone(resolver.resolveSrv(`_${scheme}._tcp.${domain}`));
      // A target of "." means that there is no such service (RFC 2782).
      return found.filter(({ name }) => name !== '' && name !== '.').map((record) => ({ ...record, scheme }));
    });
    const all = records.flat().toSorted(byPlace);
    if (all.length === 0) {
      listing.reject(domain, 'The domain has no SRV record.');
    }
    const found = await inParallel(listing.first(all), AT_ONCE, async (record): Promise<Found> => {
      const texts = await recordsOrNone(resolver.resolveTxt(record.name));
      return { ...record, texts: new Map(texts.flat().map(pairOf)) };
    });
    found.forEach((record) => addRecord(listing, record));
  }

  private resolver(): dns.Resolver {
    const timeout = Math.ceil(discoveryLimits.sourceTimeoutMs / (TRIES + 1));
    const resolver = new dns.Resolver({ timeout, tries: TRIES });
    const { servers = [] } = this.settings;
    try {
      if (servers.length > 0) {
        resolver.setServers(servers);
      }
      return resolver;
    } catch {
      throw new SourceError('configuration', 'DISCOVERY_SOURCES');
    }
  }
}

function addRecord(listing: Listing, { name, port, scheme, texts }: Found): void {
  const [key = ''] = name.split('.');
  const declared = discovered({
    source: 'dns',
    path: [key],
    key,
    host: name.replace(/\.$/, ''),
    port,
    isSecure: scheme === 'https',
    version: texts.get('version'),
    note: (field) => texts.get(field),
  });
  listing.addDeclared(declared);
}

async function recordsOrNone<Record>(lookup: Promise<Record[]>): Promise<Record[]> {
  try {
    return await lookup;
  } catch (error) {
    if (ABSENT.includes(codeOf(error))) {
      return [];
    }
    throw error;
  }
}

function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
}

/** Sorts records, which name servers return in any order. */
function byPlace(one: SrvRecord, other: SrvRecord): number {
  return one.name === other.name ? one.port - other.port : one.name < other.name ? -1 : 1;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}
