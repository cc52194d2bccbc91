import { recordedSpan } from '../../../common/tracing/spans.js';
import type { InstanceRow } from '../storage/instance.row.js';

/**
 * Tells the span of a step which instance it moves, by names and ids alone: data of an instance is no matter of traces.
 * @param command what the engine is given; undefined where it makes no step
 */
export function tellStep(
  { uuid, appId, buildId, definitionSvcUuid, depth }: InstanceRow,
  command: string | undefined,
): void {
  recordedSpan()?.setAttributes({
    'svc.app.id': appId,
    'svc.build.id': buildId,
    'svc.process.definition': definitionSvcUuid,
    'svc.process.instance': uuid,
    'svc.process.depth': depth,
    'svc.step.command': command,
  });
}
