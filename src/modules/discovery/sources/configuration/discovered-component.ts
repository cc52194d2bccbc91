import type { ComponentSourceName } from '../../model/component.types.js';
import { declare, type Declaration } from './declared-component.js';
import { endpointOf } from './endpoint.js';

/** What a directory of services knows of one of them. */
export interface Discovered {
  source: ComponentSourceName;
  /** Names it in mistakes. */
  path: readonly PropertyKey[];
  key: string;
  host: string;
  port: number;
  /** Whether its port speaks HTTPS, as far as the directory knows. */
  isSecure?: boolean;
  version: string | undefined;
  /** What its owner noted for us in the directory: `key`, `kind`, `scheme`, `health-path`. */
  note: (name: string) => string | undefined;
}

/** Makes a component of an entry of a directory: an HTTP service, unless its owner noted another kind. */
export function discovered({ source, path, note, ...known }: Discovered): Declaration {
  const { key, host, port, isSecure, version } = known;
  const kind = note('kind') ?? 'http';
  const healthPath = note('health-path');
  const scheme = note('scheme') ?? (kind === 'http' && isSecure ? 'https' : undefined);
  const raw = {
    key: note('key') ?? key,
    kind,
    endpoint: endpointOf(kind, scheme, host, port),
    options: healthPath === undefined ? {} : { healthPath },
    ...(version ? { version } : {}),
  };
  return declare(raw, { source, path });
}
