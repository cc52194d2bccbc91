import { pagesOf, type WorkflowCall } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** The calls of a run that are shown. */
export interface Calls {
  calls: readonly WorkflowCall[];
  isWhole: boolean;
}

const PAGE_SIZE = 100;
/** A run has some dozens; of one with more the first are shown. */
const MOST = 1_000;
const REFRESH_MS = 5_000;

/** The calls of a run in the order in which they were begun; read again as long as it runs. */
export function useCalls(id: string, isRunning: boolean): Answer<Calls> {
  return useAnswer((signal) => read(id, signal), [id, isRunning], isRunning ? { refreshMs: REFRESH_MS } : {});
}

async function read(id: string, signal: AbortSignal): Promise<Calls> {
  const calls: WorkflowCall[] = [];
  let isWhole = true;
  // This list begins with the oldest, so it goes on after one.
  for await (const page of pagesOf(({ before: after }) =>
    api().listWorkflowRunCalls({
      path: { workflowRunId: id },
      query: { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) },
      signal,
    }),
  )) {
    calls.push(...page.calls);
    isWhole = page.next === null;
    if (calls.length >= MOST) {
      break;
    }
  }
  return { calls, isWhole };
}
