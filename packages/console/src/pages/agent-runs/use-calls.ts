import { pagesOf, type WorkflowCall } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** Calls of a run. */
export interface Calls {
  calls: readonly WorkflowCall[];
  /** Whether these are all calls. */
  isWhole: boolean;
}

const PAGE_SIZE = 100;
/** Maximum number of calls shown. Most runs have some dozens. */
const MAX_CALLS = 1_000;
const REFRESH_MS = 5_000;

/** Loads the calls of a run in order of their start, repeatedly while it runs. */
export function useCalls(id: string, isRunning: boolean): Answer<Calls> {
  return useAnswer((signal) => read(id, signal), [id, isRunning], isRunning ? { refreshMs: REFRESH_MS } : {});
}

async function read(id: string, signal: AbortSignal): Promise<Calls> {
  const calls: WorkflowCall[] = [];
  let isWhole = true;
  // The list is oldest first, so its cursor is called `after`.
  for await (const page of pagesOf(({ before: after }) =>
    api().listWorkflowRunCalls({
      path: { workflowRunId: id },
      query: { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) },
      signal,
    }),
  )) {
    calls.push(...page.calls);
    isWhole = page.next === null;
    if (calls.length >= MAX_CALLS) {
      break;
    }
  }
  return { calls, isWhole };
}
