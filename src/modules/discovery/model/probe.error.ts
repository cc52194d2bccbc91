/**
 * Why a component is unhealthy, as a short sentence for each cause: the `error` of a service in the answer. A fixed list,
 * so that nothing a component or a driver says, no address and no credential can get into it.
 */
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

/** A check that found the component unhealthy. Its message is safe to show; `cause` is for the process only and is never logged. */
export class ProbeError extends Error {
  /** @param detail for `driver`: name of the npm package that is missing, which the recommendation names */
  constructor(
    readonly failure: ProbeFailure,
    readonly detail: string | null = null,
  ) {
    super(PROBE_FAILURES[failure]);
  }
}
