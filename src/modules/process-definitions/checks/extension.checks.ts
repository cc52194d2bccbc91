import type { Problems } from '../problems.js';
import { childOf, childrenOf, kindOf, type BpmnElement } from '../reader/bpmn-element.js';

/** Which of our elements stand where. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'svc:InputSchema': ['process'],
  'svc:Actions': ['task', 'serviceTask', 'userTask', 'sendTask'],
  'svc:UiActions': ['userTask'],
};

/**
 * Checks extension elements: ours stand where they mean something, each once. Those of others are passed over, with a warning,
 * since a process that relies on another engine's extensions will not do what its author expects.
 */
export function checkExtensions(element: BpmnElement, problems: Problems): void {
  const extensions = childOf(element, 'extensionElements');
  const values = extensions === undefined ? [] : childrenOf(extensions, 'values');
  const seen = new Set<string>();
  for (const { $type } of values) {
    const places = PLACES[$type];
    if (!$type.startsWith('svc:')) {
      warnOfForeign($type, problems);
    } else if (places?.includes(kindOf(element)) !== true || seen.has($type)) {
      const message = `svc:${$type.charAt(4).toLowerCase()}${$type.slice(5)} stands once in the extensionElements of: ${places?.join(', ') ?? 'nothing'}.`;
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
