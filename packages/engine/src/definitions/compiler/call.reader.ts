import type { CallTarget, MultiInstance } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, textOf, type BpmnElement } from '../model/bpmn-element.js';
import { readCopyRule } from './operation.reader.js';
import { Values } from '../draft/values.js';

/**
 * Reads the call target of a call activity (BPMN 2.0.2, 10.3.6; docs/process-semantics.md, section 9).
 * @param names names of the processes of the same file by their BPMN id
 */
export function readCall(
  element: BpmnElement,
  names: ReadonlyMap<string, string>,
  problems: DefinitionProblems,
): CallTarget {
  const values = new Values(element, problems);
  const called = values.required('calledElement', 'A call activity');
  const appId = values.text('appId');
  const waits = values.flag('waits', true);
  const outputKey = values.path('outputKey');
  const loop = childOf(element, 'loopCharacteristics');
  const multiInstance = loop === undefined ? null : readLoop(loop, values.of(loop));
  if (!waits && outputKey !== null) {
    const message = 'Only a call activity that waits can have outputKey: without waiting there is no result.';
    values.error('INVALID_VALUE', message);
  }
  return {
    process: appId === null ? (names.get(called) ?? called) : called,
    appId,
    waits,
    outputKey,
    multiInstance,
    startCondition: values.text('startCondition'),
    copy: readCopyRule(values),
  };
}

function readLoop(loop: BpmnElement, values: Values): MultiInstance {
  const collection = values.expression('collection') ?? dataInput(loop, values);
  if (collection === null) {
    const message = 'A multi-instance call activity needs svc:collection, an expression that yields a list.';
    values.error('MISSING_VALUE', message);
  }
  return { collection: collection ?? '', sequential: loop.isSequential === true };
}

/** Reads the collection from the standard's `loopDataInputRef`: a data object or input. */
function dataInput(loop: BpmnElement, values: Values): string | null {
  const input = childOf(loop, 'loopDataInputRef');
  const name = input && (textOf(input, 'name') ?? textOf(input, 'id'));
  return name !== undefined && values.isExpression(name, 'loopDataInputRef') ? name : null;
}
