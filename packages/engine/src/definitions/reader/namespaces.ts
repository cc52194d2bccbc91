import { closestMatch } from 'leven';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { SVC_NAMESPACE } from './svc-extension.js';
import { NOT_CONTENT } from './xml-guard.js';

/** Namespace of BPMN 2.0 elements. */
const BPMN_NAMESPACE = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
/** Prefix of URIs reserved for our namespaces. */
const OURS = /^urn:svc:/i;
/** Maximum edit distance of a misspelt namespace; foreign namespaces differ more. */
const MAX_DIFFERENCE = 2;
const DECLARATION = /\sxmlns(?::([^\s=]+))?\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

interface Declaration {
  prefix: string;
  uri: string;
}

/** Rejects a misspelt svc namespace: its content would be ignored, and the process would run without it. */
export function refuseMisspeltNamespaces(xml: string, problems: DefinitionProblems): void {
  const declared = declarationsIn(xml);
  const hasOurs = declared.some(({ uri }) => uri === SVC_NAMESPACE);
  for (const { prefix, uri } of declared) {
    if (uri !== SVC_NAMESPACE && (isNearlyOurs(uri) || (prefix === 'svc' && !hasOurs))) {
      const message = `The namespace "${uri.slice(0, 80)}" of the prefix "${prefix}" is not known here. Did you mean "${SVC_NAMESPACE}"?`;
      problems.error('NAMESPACE_UNKNOWN', null, message);
    }
  }
}

/** Returns a hint for a file without BPMN elements that does not declare the BPMN namespace. */
export function bpmnNamespaceHint(xml: string): string {
  const isDeclared = declarationsIn(xml).some(({ uri }) => uri === BPMN_NAMESPACE);
  return isDeclared ? '' : `. The namespace of BPMN 2.0 is "${BPMN_NAMESPACE}"; the file does not declare it`;
}

function isNearlyOurs(uri: string): boolean {
  return (
    OURS.test(uri) ||
    (uri.length <= SVC_NAMESPACE.length + MAX_DIFFERENCE &&
      closestMatch(uri, [SVC_NAMESPACE], { maxDistance: MAX_DIFFERENCE }) !== undefined)
  );
}

function declarationsIn(xml: string): Declaration[] {
  return [...xml.replaceAll(NOT_CONTENT, ' ').matchAll(DECLARATION)].map(
    ([, prefix = '', double, single = '']) => ({ prefix, uri: double ?? single }),
  );
}
