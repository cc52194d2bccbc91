import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import {
  contentOf,
  idOf,
  isA,
  isElement,
  kindOf,
  textOf,
  type BpmnElement,
  type BpmnProperty,
} from '../model/bpmn-element.js';
import { checkExtensions } from './extension.checks.js';
import { checkImplementation } from './implementation.checks.js';
import { checkMessageFlows } from './message-flow.checks.js';
import { alternativeTo, treatmentOf, type Treatment } from './supported-elements.js';

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/**
 * Checks every element of a file on its own: whether it is executed, its references and attributes.
 * @returns whether all elements are executed
 */
export function checkElements(root: BpmnElement, problems: DefinitionProblems): boolean {
  let complete = true;
  const open: BpmnElement[] = [root];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    const treatment = treatmentOf(element);
    if (typeof treatment === 'object') {
      complete = false;
      const message = `${nameForMessage(element, treatment.refused)} is not executed here; ${alternativeTo(treatment.refused)}.`;
      problems.error('UNSUPPORTED_ELEMENT', element, message);
    } else if (element.$type.startsWith('bpmn:')) {
      checkElement(element, problems);
      partsOf(element, treatment)
        .toReversed()
        .forEach((part) => open.push(part));
    }
  }
  return complete;
}

/** Names an element for messages, by the enclosing element if it has no id. */
function nameForMessage(element: BpmnElement, refused: string): string {
  const id = idOf(element);
  let holder = element.$parent;
  while (holder !== undefined && idOf(holder) === null) {
    holder = holder.$parent;
  }
  if (id !== null || holder === undefined) {
    return nameOf(refused, id);
  }
  const what = refused.includes(' of ') ? refused : `${refused} of ${kindOf(holder)}`;
  return nameOf(what, idOf(holder));
}

function checkElement(element: BpmnElement, problems: DefinitionProblems): void {
  checkReferences(element, problems);
  checkAttributes(element, problems);
  checkImplementation(element, problems);
  if (element.$type === 'bpmn:Collaboration') {
    checkMessageFlows(element, problems);
  }
  checkExtensions(element, problems);
}

/** Returns the parts to check: none of a process that is only drawn, or of extension elements, which have their own check. */
function partsOf(element: BpmnElement, treatment: Treatment): BpmnElement[] {
  const closed =
    element.$type === 'bpmn:ExtensionElements' ||
    (treatment === 'ignored' && element.$type === 'bpmn:Process');
  return closed ? [] : contentOf(element);
}

function checkAttributes(element: BpmnElement, problems: DefinitionProblems): void {
  if (Object.hasOwn(element, 'isImmediate')) {
    const message = 'isImmediate has no meaning in executable processes (BPMN 2.0.2, 8.4.13): remove it.';
    problems.error('NOT_IN_EXECUTABLE', element, message);
  }
  if (element.$type === 'bpmn:Process' && textOf(element, 'processType') === 'Public') {
    const message = 'A public process shows what partners see and is not executable (BPMN 2.0.2, 10.2.1).';
    problems.error('NOT_IN_EXECUTABLE', element, message);
  }
  const format = textOf(element, 'textFormat');
  if (format !== undefined && !MEDIA_TYPE.test(format)) {
    problems.error(
      'INVALID_VALUE',
      element,
      `textFormat must be a media type such as text/plain, not "${format.slice(0, 80)}".`,
    );
  }
}

/** Flow lists have their own check, which also covers wrong targets. */
const CHECKED_ELSEWHERE: ReadonlySet<string> = new Set(['incoming', 'outgoing']);

/**
 * Checks that every reference names an element of the type in the meta-model. The reader only checks that the target exists.
 */
function checkReferences(element: BpmnElement, problems: DefinitionProblems): void {
  for (const property of element.$descriptor?.properties ?? []) {
    const name = property.name.slice(property.name.indexOf(':') + 1);
    if (property.isReference === true && !CHECKED_ELSEWHERE.has(name)) {
      checkProperty(element, name, property, problems);
    }
  }
}

function checkProperty(
  element: BpmnElement,
  name: string,
  property: BpmnProperty,
  problems: DefinitionProblems,
): void {
  const targets = [element[name]].flat().filter(isElement);
  for (const target of targets) {
    if (property.type.startsWith('bpmn:') && !isA(target, property.type)) {
      const expected = property.type.slice('bpmn:'.length);
      const message = `${name} refers to ${kindOf(target)} "${idOf(target) ?? ''}", which is not of type ${expected}.`;
      problems.error('INVALID_REFERENCE', element, message);
    }
  }
}
