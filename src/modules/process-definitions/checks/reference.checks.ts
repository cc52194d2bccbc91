import type { DefinitionProblems } from '../model/definition-problems.js';
import { idOf, isA, isElement, kindOf, type BpmnElement, type BpmnProperty } from '../model/bpmn-element.js';

/** Lists of flows have a check of their own, which also tells when they name something else. */
const CHECKED_ELSEWHERE: ReadonlySet<string> = new Set(['incoming', 'outgoing']);

/**
 * Checks that every reference leads to an element of the type in the meta-model. The reader only checks whether it leads
 * anywhere.
 */
export function checkReferences(element: BpmnElement, problems: DefinitionProblems): void {
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
      const message = `${name} names ${kindOf(target)} "${idOf(target) ?? ''}", which is no ${expected}.`;
      problems.error('INVALID_REFERENCE', element, message);
    }
  }
}
