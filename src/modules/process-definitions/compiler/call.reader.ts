import type { CallTarget, MultiInstance } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, textOf } from '../model/bpmn-element.js';
import { readCopyRule } from './operation.reader.js';
import type { DraftNode } from '../draft/draft.js';
import { Values } from '../draft/values.js';

/** Reads what a call activity starts (BPMN 2.0.2, 10.3.6; docs/process-semantics.md, section 9). */
export class CallReader {
  /** @param names names of the processes of the same file by their BPMN id */
  constructor(
    private readonly problems: DefinitionProblems,
    private readonly names: ReadonlyMap<string, string>,
  ) {}

  read(node: DraftNode): CallTarget {
    const values = new Values(node.element, this.problems);
    const called = values.required('calledElement', 'A call activity');
    const appId = values.text('appId');
    const waits = values.flag('waits', true);
    const outputKey = values.path('outputKey');
    const multiInstance = this.multiInstance(node);
    if (!waits && outputKey !== null) {
      values.error(
        'INVALID_VALUE',
        'outputKey needs a call activity that waits: without waiting there is no result.',
      );
    }
    return {
      process: appId === null ? (this.names.get(called) ?? called) : called,
      appId,
      waits,
      outputKey,
      multiInstance,
      startCondition: values.text('startCondition'),
      copy: readCopyRule(values),
    };
  }

  private multiInstance(node: DraftNode): MultiInstance | null {
    const loop = childOf(node.element, 'loopCharacteristics');
    if (loop === undefined) {
      return null;
    }
    const values = new Values(loop, this.problems);
    const collection = values.expression('collection') ?? this.dataInput(values);
    if (collection === null) {
      values.error(
        'MISSING_VALUE',
        'A multi-instance call activity needs svc:collection, an expression of a list.',
      );
    }
    return { collection: collection ?? '', sequential: loop.isSequential === true };
  }

  /** The standard's own way to name the collection: a data object or input. */
  private dataInput(values: Values): string | null {
    const input = childOf(values.element, 'loopDataInputRef');
    const name = input && (textOf(input, 'name') ?? textOf(input, 'id'));
    return name !== undefined && values.isExpression(name, 'loopDataInputRef') ? name : null;
  }
}
