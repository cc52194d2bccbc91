import type { BuildSummary } from '../../../../clients/typescript/src/index.js';
import type { Choice } from '../../parts/fields.js';
import { absoluteTime } from '../../parts/time.js';

/** A build as something to choose. */
export function choiceOf({ buildId, applicationVersionId, createdDate }: BuildSummary): Choice {
  return {
    value: buildId,
    title: `${applicationVersionId}, ${absoluteTime(new Date(createdDate))}, ${buildId}`,
  };
}
