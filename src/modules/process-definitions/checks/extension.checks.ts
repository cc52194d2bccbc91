import type { Problems } from '../problems.js';
import { childOf, childrenOf, kindOf, type BpmnElement } from '../reader/bpmn-element.js';
import { hostsOf, placeOf } from '../reader/svc-places.js';

/**
 * Checks extension elements: ours stand where they mean something, each once. Those of others are passed over, with a warning,
 * since a process that relies on another engine's extensions will not do what its author expects.
 */
export function checkExtensions(element: BpmnElement, problems: Problems): void {
  const extensions = childOf(element, 'extensionElements');
  const values = extensions === undefined ? [] : childrenOf(extensions, 'values');
  const seen = new Set<string>();
  for (const value of values) {
    const { $type } = value;
    const name = kindOf(value);
    if (!$type.startsWith('svc:')) {
      warnOfForeign($type, problems);
    } else if (!hostsOf(name).includes(kindOf(element)) || seen.has($type)) {
      const message = `svc:${name} stands once in ${placeOf(name) ?? 'nothing'}.`;
      problems.error('MISPLACED_EXTENSION', element, message);
    }
    seen.add($type);
  }
  Object.keys(element.$attrs ?? {})
    .filter((name) => name.includes(':') && !/^(xmlns|xsi|svc|bpmn|xml)?:/.test(name))
    .forEach((name) => warnOfForeign(name, problems));
}

function warnOfForeign(name: string, problems: Problems): void {
  const prefix = name.slice(0, name.indexOf(':'));
  const message = `What belongs to the namespace with the prefix "${prefix}" means nothing here.`;
  problems.warning('FOREIGN_EXTENSION', null, message);
}
