import type { WorkflowCall } from '../../../../client/src/index.js';

/** Total model usage of a run. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cost: number;
  /** Whether the provider reports costs. */
  hasCost: boolean;
}

/** Sums the usage of calls. */
export function sumUsage(calls: readonly Pick<WorkflowCall, 'usage'>[]): Usage {
  const sum = { inputTokens: 0, outputTokens: 0, cost: 0, hasCost: false };
  for (const { usage } of calls) {
    sum.inputTokens += usage?.inputTokens ?? 0;
    sum.outputTokens += usage?.outputTokens ?? 0;
    sum.cost += usage?.cost ?? 0;
    sum.hasCost ||= typeof usage?.cost === 'number';
  }
  return sum;
}
