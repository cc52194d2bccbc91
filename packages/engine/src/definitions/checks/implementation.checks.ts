import { cached } from '../../support/cached.js';
import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import { childOf, idOf, kindOf, partsOf, textOf, type BpmnElement } from '../model/bpmn-element.js';
import type { DraftNode } from '../draft/draft.js';
import type { ForeignMeaning, ForeignPart } from './foreign-engines.js';

/** Values of `implementation` that name no service (BPMN 2.0.2, table 10.7). */
const UNSPECIFIED: ReadonlySet<string> = new Set(['', '##unspecified']);

/** Supported ways to do work, for messages. */
export const SUPPORTED_WORK =
  'an automatic svc:action of kind "startWorkflow" (nodes of type REST_ENDPOINT and CUSTOM_AGENT call others) or "saveData" (values)';

/** Alternatives to implementations of other engines. */
const INSTEAD: Readonly<Record<'implementation' | 'listener', string>> = {
  implementation: `give it ${SUPPORTED_WORK}`,
  listener: `do the same in a task of its own, with ${SUPPORTED_WORK}`,
};

/** Messages for parts that are ignored although the element is executed. */
const IGNORED_PARTS: Readonly<Record<ForeignPart, string>> = {
  implementation: 'is not run: only the BPMN and svc: elements of this file are executed',
  listener: 'is not run, only the svc:actions of the element',
  data: 'has no effect: process data is shared, see svc:data, svc:input, svc:copyKeys and svc:outputKey',
  people: 'restricts nothing: set svc:execute on the lane',
};

/**
 * Checks the standard's own attributes for the executor of a task: `implementation` and `operationRef` name services that are
 * not called here.
 */
export function checkImplementation(element: BpmnElement, problems: DefinitionProblems): void {
  const implementation = textOf(element, 'implementation')?.trim() ?? '';
  if (!UNSPECIFIED.has(implementation)) {
    report(element, `implementation="${implementation.slice(0, 80)}"`, 'implementation', problems);
  }
  if (childOf(element, 'operationRef') !== undefined) {
    report(element, 'operationRef', 'implementation', problems);
  }
}

/**
 * Reports an extension of another engine that affects execution.
 * @param name as in the file: `camunda:class`
 */
export function reportForeign(
  element: BpmnElement,
  name: string,
  { part, engine }: ForeignMeaning,
  problems: DefinitionProblems,
): void {
  report(element, `${name} (${engine})`, part, problems);
}

/** Reports foreign work: an error if nothing supported replaces it, otherwise a warning. */
function report(element: BpmnElement, what: string, part: ForeignPart, problems: DefinitionProblems): void {
  const holder = holderOf(element);
  const name = `${what} of ${nameOf(kindOf(holder), idOf(holder))}`;
  if (part === 'implementation' ? !worksOnItsOwn(element) : part === 'listener' && !hasActions(element)) {
    const instead = INSTEAD[part === 'listener' ? 'listener' : 'implementation'];
    problems.error('UNSUPPORTED_ELEMENT', holder, `${name} is not executed here; ${instead}.`);
    return;
  }
  problems.warning('FOREIGN_IMPLEMENTATION_NOT_RUN', holder, `${name} ${IGNORED_PARTS[part]}.`);
}

/** Returns the element to report; for parts that seldom have an id, such as event definitions, the enclosing one. */
function holderOf(element: BpmnElement): BpmnElement {
  const isPart = kindOf(element).endsWith('EventDefinition') || idOf(element) === null;
  return isPart && element.$parent !== undefined ? element.$parent : element;
}

/** Cache, because an element can have thousands of extensions and each lookup reads its actions. */
const elementsWithActions = new WeakMap<BpmnElement, boolean>();

/** Whether the element has svc actions. Elements do not change after reading. */
export function hasActions(element: BpmnElement): boolean {
  return cached(elementsWithActions, element, () => partsOf(element, 'svc:Actions', 'actions').length > 0);
}

/** Elements that wait, send or call on their own, without a foreign implementation. */
const EXECUTED_BY_SELF: ReadonlySet<string> = new Set([
  'userTask',
  'receiveTask',
  'subProcess',
  'callActivity',
]);

function worksOnItsOwn(element: BpmnElement): boolean {
  return (
    EXECUTED_BY_SELF.has(kindOf(element)) ||
    childOf(element, 'messageRef') !== undefined ||
    hasActions(element)
  );
}

/** Warnings for tasks without actions. Kinds not listed wait, send or call. */
const IDLE: Readonly<Record<string, string>> = {
  task: `has no actions: give it ${SUPPORTED_WORK}, or make it a userTask if a person does the work`,
  serviceTask: `has no actions: give it ${SUPPORTED_WORK}`,
  sendTask: 'has no message and no actions: give it messageRef or svc:actions',
  manualTask: 'is work that the process does not wait for: to wait for it, make it a userTask',
};

/** Warns of a task that does nothing, unless its implementation or reference has already been reported. */
export function warnOfIdleTask(
  { element, key, event }: DraftNode,
  kind: string,
  problems: DefinitionProblems,
): void {
  const why = Object.hasOwn(IDLE, kind) ? IDLE[kind] : undefined;
  const isRefused = problems.has('UNSUPPORTED_ELEMENT', element) || problems.hasWrongReference(element);
  if (why !== undefined && event === null && !isRefused) {
    const message = `${nameOf(kind, key)} ${why}. The token passes it without a stop.`;
    problems.warning('TASK_DOES_NOTHING', element, message);
  }
}
