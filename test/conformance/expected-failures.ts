/** Scenarios of the official suite that the client passes; a failure of one of them fails the run. */
export const REQUIRED_SCENARIOS: readonly string[] = [
  'initialize',
  'tools_call',
  'sse-retry',
  'request-metadata',
  'http-standard-headers',
  'http-custom-headers',
  'http-invalid-tool-headers',
  'json-schema-ref-no-deref',
  'json-schema-2020-12-preservation',
  'auth/client-credentials-basic',
  'auth/pre-registration',
];

const INTERACTIVE = 'needs a person and a browser (authorization code grant); a service account has neither';
const NO_DISCOVERY =
  'the interface contract names the token endpoint, so no authorization server is ever discovered';

/** Scenarios the client is known not to pass, each with the reason. One that passes all the same fails the run. */
export const EXPECTED_FAILURES: Readonly<Record<string, string>> = {
  'auth/client-credentials-jwt':
    'a service account has a client secret and no private key (interface contract)',
  'auth/wif-jwt-bearer':
    'a service account has a client secret and no workload identity (interface contract)',
  'auth/dpop': 'tokens of service accounts are bearer tokens (interface contract)',
  'auth/token-endpoint-auth-basic': INTERACTIVE,
  'auth/token-endpoint-auth-post': INTERACTIVE,
  'auth/token-endpoint-auth-none': INTERACTIVE,
  'auth/metadata-default': INTERACTIVE,
  'auth/iss-supported': INTERACTIVE,
  'auth/resource-mismatch': NO_DISCOVERY,
  'auth/metadata-issuer-mismatch': NO_DISCOVERY,
  'auth/authorization-server-migration': NO_DISCOVERY,
  'sep-2322-client-request-state':
    'a tool that asks back (input_required) gets no answer: there is no person behind a connection test',
};
