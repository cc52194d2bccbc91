import type { ConnectionTestResponse } from '../../../../client/src/index.js';

/** Steps of a connection test. Only service accounts need a token. */
const STEPS = ['token', 'address', 'credentials', 'protocol', 'tools', 'stored'] as const;

/** Name of a step. */
export type StepName = (typeof STEPS)[number];

/** Step and its outcome. */
export interface Step {
  name: StepName;
  state: 'done' | 'failed' | 'skipped';
}

/** Patterns for the service's fixed failure messages. Any other failure means that the server was not reached. */
const CAUSES: readonly (readonly [StepName, RegExp])[] = [
  ['token', /token endpoint|no token/],
  ['credentials', /MCP server (requires|accepts the) credentials/],
  ['tools', /list of tools|lists more tools/],
  ['protocol', /not an MCP server|protocol (error|version)|HTTP error/],
];

/** Returns the steps of a finished test. */
export function stepsOf(answer: ConnectionTestResponse, needsToken: boolean): Step[] {
  const steps = needsToken ? STEPS : STEPS.slice(1);
  const failed = answer.status === 200 ? steps.length : steps.indexOf(failedStep(answer));
  return steps.map((name, index) => ({ name, state: stateOf(index, failed) }));
}

function stateOf(index: number, failed: number): Step['state'] {
  if (index < failed) {
    return 'done';
  }
  return index === failed ? 'failed' : 'skipped';
}

function failedStep({ details = '' }: ConnectionTestResponse): StepName {
  return CAUSES.find(([, sentence]) => sentence.test(details))?.[0] ?? 'address';
}
