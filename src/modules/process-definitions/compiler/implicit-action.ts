import type { GraphAction, GraphUiAction } from '../model/process-graph.types.js';
import type { SvcUuids } from './svc-uuids.js';

/** Name of the action and the UI action that a user task without actions gets (docs/bpmn.md, "User tasks without actions"). */
const COMPLETE = 'complete';

/** The action for which a user task without actions waits: mandatory, manual, and without data. */
export function implicitAction(nodeKey: string, uuids: SvcUuids): GraphAction {
  return {
    svcUuid: uuids.ofAction(nodeKey, COMPLETE),
    name: COMPLETE,
    order: 0,
    manual: true,
    optional: false,
    repeatable: false,
    keys: [],
    parent: null,
    autoRunChildren: false,
    delay: null,
    back: null,
    operation: { kind: 'SAVE_DATA', data: null },
  };
}

/** How a person executes it. Its schema lets front ends know that there is nothing to fill in. */
export function implicitUiAction(nodeKey: string, uuids: SvcUuids): GraphUiAction {
  return {
    svcUuid: uuids.ofUiAction(nodeKey, COMPLETE),
    name: COMPLETE,
    action: COMPLETE,
    body: null,
    bodySchema: { type: 'object', additionalProperties: false },
    excludeKeys: [],
  };
}
