import { InternalError, NotFoundError } from '../../platform/errors/domain.error.js';

/** Reasons why a component is unhealthy. A fixed list, so that no text of components or drivers is shown. */
export const PROBE_FAILURES = {
  dns: 'The host name could not be resolved.',
  refused: 'The connection was refused.',
  network: 'The connection broke.',
  tls: 'No secure connection could be established.',
  timeout: 'No complete answer arrived in time.',
  auth: 'The credentials were refused.',
  forbidden: 'The credentials are valid but may not read what the check needs.',
  protocol: 'The answer is not of the expected protocol.',
  http_error: 'The answer is an HTTP error.',
  too_large: 'The answer is larger than allowed.',
  redirect: 'The answer is a redirect.',
  blocked: 'The address is not one this service may call.',
  down: 'The component reports that it is not working.',
  driver: 'The driver for this kind of component is not installed.',
  configuration: 'The configuration of the component is incomplete.',
  deadline: 'The scan ended before the component could be checked.',
  internal: 'The check failed inside the service.',
} as const;

/** One cause of {@link PROBE_FAILURES}. */
export type ProbeFailure = keyof typeof PROBE_FAILURES;

/** Returns the failure for an HTTP status; undefined for 2xx. */
export function failureOfStatus(status: number): ProbeFailure | undefined {
  if (status >= 200 && status < 300) {
    return undefined;
  }
  return status === 401 ? 'auth' : status === 403 ? 'forbidden' : 'http_error';
}

/** A check that found the component unhealthy. Its message is safe to show; `cause` is internal and never logged. */
export class ProbeError extends Error {
  /** @param detail for `driver`: name of the missing npm package, for the recommendation */
  constructor(
    readonly failure: ProbeFailure,
    readonly detail: string | null = null,
  ) {
    super(PROBE_FAILURES[failure]);
  }
}

/** Reasons why a source could not be read: those of probes, and some that apply only to sources. */
export const SOURCE_FAILURES = {
  ...PROBE_FAILURES,
  configuration: 'The configuration of the source is incomplete or wrong.',
  internal: 'The source could not be read because of a fault inside the service.',
  unreadable: 'The file cannot be read.',
  syntax: 'The file is neither valid JSON nor valid YAML.',
} as const;

/** One cause of {@link SOURCE_FAILURES}. */
export type SourceFailure = keyof typeof SOURCE_FAILURES;

/** A source of components that could not be read. Its message is from a fixed list and safe to show. */
export class SourceError extends Error {
  /** @param detail place of the mistake, such as `line 3, column 7`; safe to show, never a value */
  constructor(
    readonly failure: SourceFailure,
    readonly detail: string | null = null,
  ) {
    super(SOURCE_FAILURES[failure]);
  }
}

const SCAN_FAILURES = {
  /** No scan that began after the request was completed within `requestTimeoutMs`. */
  DISCOVERY_TIMEOUT: 'The platform was not scanned in time.',
  /** The scan could not be made or stored, because the database is unavailable. */
  DISCOVERY_NOT_STORED: 'The platform could not be scanned.',
  /** Another replica took over because this one stopped renewing its lease. The findings are discarded. */
  DISCOVERY_LOST: 'Another replica has taken over the scan.',
  DISCOVERY_STOPPED: 'The scan ended because the service stops.',
} as const;

/** The rescan failed: 500, as the contract requires. */
export class ScanFailedError extends InternalError {
  constructor(
    readonly code: keyof typeof SCAN_FAILURES,
    options?: ErrorOptions,
  ) {
    super(SCAN_FAILURES[code], undefined, options);
  }
}

/** No scan has this number, or it was removed from the history. */
export class ScanNotFoundError extends NotFoundError {
  readonly code = 'SCAN_NOT_FOUND';
  constructor() {
    super('Scan not found.');
  }
}
