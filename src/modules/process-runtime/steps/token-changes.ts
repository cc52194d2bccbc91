import type { EngineJob, StepResult, TokenState } from '../engine/state/engine.types.js';
import { VISIT_KINDS } from './runtime-job.js';
import type { TokenChange } from '../storage/tokens.repository.js';
import type { StepBase } from './step.types.js';

/** Tokens that are written: those that the step changed, left behind, or gave or took background work. */
export function tokenChanges({ tokens }: StepBase, result: StepResult): TokenChange[] {
  const cancelled = new Set(result.cancelledTokens);
  const withJobs = new Set(result.jobs.filter(endsWithVisit).map(({ tokenId }) => tokenId));
  const withWaits = new Set(result.waits.map(({ tokenId }) => tokenId));
  const changed = new Map(result.changedTokens.map((token) => [token.id, token]));
  for (const [id, { state, hasJobs, hasWaits }] of tokens) {
    const left = !result.instance.tokens.has(id);
    const gained = (withJobs.has(id) && !hasJobs) || (withWaits.has(id) && !hasWaits);
    if ((left || gained) && !changed.has(id)) {
      changed.set(id, result.instance.tokens.get(id) ?? state);
    }
  }
  const keeps = (id: number, had: boolean | undefined): boolean => had === true && !cancelled.has(id);
  return [...changed.values()].map((token: TokenState) => ({
    token,
    flags: {
      live: result.instance.tokens.has(token.id),
      hasJobs: withJobs.has(token.id) || keeps(token.id, tokens.get(token.id)?.hasJobs),
      hasWaits: withWaits.has(token.id) || keeps(token.id, tokens.get(token.id)?.hasWaits),
    },
  }));
}

function endsWithVisit(
  job: EngineJob,
): job is Extract<EngineJob, { kind: 'TIMER' | 'ACTION_DUE' | 'WORKFLOW' }> {
  return VISIT_KINDS.includes(job.kind);
}
