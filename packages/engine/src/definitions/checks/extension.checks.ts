import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, childrenOf, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { hostsOf, placeOf } from '../reader/svc-places.js';
import { foreignMeaning, type ForeignMeaning } from './foreign-engines.js';
import { reportForeign } from './implementation.checks.js';

const DECLARATION = 'xmlns:';

interface Namespace {
  prefix: string;
  uri: string;
}

/**
 * Checks extension elements: svc elements must be in their place, each once. Extensions of other engines that affect execution are
 * reported by name. All others are ignored with a warning, since a process that relies on them will not work as its author expects.
 */
export function checkExtensions(element: BpmnElement, problems: DefinitionProblems): void {
  const extensions = childOf(element, 'extensionElements');
  const values = extensions === undefined ? [] : childrenOf(extensions, 'values');
  const seen = new Set<string>();
  for (const value of values) {
    const { $type } = value;
    const name = kindOf(value);
    if (!$type.startsWith('svc:')) {
      checkForeign(element, $type, meaningOfElement(value), problems);
    } else if (!hostsOf(name).includes(kindOf(element)) || seen.has($type)) {
      const message = `svc:${name} may appear only once, in ${placeOf(name) ?? 'no element'}.`;
      problems.error('MISPLACED_EXTENSION', element, message);
    }
    seen.add($type);
  }
  checkAttributes(element, problems);
}

function checkAttributes(element: BpmnElement, problems: DefinitionProblems): void {
  const foreign = Object.entries(element.$attrs ?? {}).filter(
    ([name]) => name.includes(':') && !/^(xmlns|xsi|svc|bpmn|xml)?:/.test(name),
  );
  const declared = foreign.length === 0 ? [] : declaredNamespaces(element);
  for (const [name, value] of foreign) {
    // Tools keep cleared attributes as empty ones.
    const isEmpty = String(value).trim() === '';
    checkForeign(element, name, isEmpty ? undefined : meaningOfAttribute(name, declared), problems);
  }
}

function checkForeign(
  element: BpmnElement,
  name: string,
  meaning: ForeignMeaning | undefined,
  problems: DefinitionProblems,
): void {
  if (meaning === undefined) {
    const prefix = name.slice(0, name.indexOf(':'));
    const message = `Extensions with the prefix "${prefix}" have no effect here.`;
    problems.warning('FOREIGN_EXTENSION', null, message);
    return;
  }
  reportForeign(element, name, meaning, problems);
}

function meaningOfElement({ $type, $descriptor }: BpmnElement): ForeignMeaning | undefined {
  const local = $type.slice($type.indexOf(':') + 1);
  return foreignMeaning($descriptor?.ns?.uri ?? '', 'elements', local);
}

function meaningOfAttribute(name: string, declared: readonly Namespace[]): ForeignMeaning | undefined {
  const [prefix = '', local = ''] = name.split(':', 2);
  const own = declared.find((one) => one.prefix === prefix);
  // For a prefix with several namespaces, the reader generates others that appear in no declaration.
  const uris = own === undefined ? declared.map(({ uri }) => uri) : [own.uri];
  return uris.map((uri) => foreignMeaning(uri, 'attributes', local)).find((meaning) => meaning !== undefined);
}

/** Returns the namespaces in scope of an element, closest first. */
function declaredNamespaces(element: BpmnElement): Namespace[] {
  const found: Namespace[] = [];
  for (let at: BpmnElement | undefined = element; at !== undefined; at = at.$parent) {
    for (const [name, uri] of Object.entries(at.$attrs ?? {})) {
      if (name.startsWith(DECLARATION) && typeof uri === 'string') {
        found.push({ prefix: name.slice(DECLARATION.length), uri });
      }
    }
  }
  return found;
}
