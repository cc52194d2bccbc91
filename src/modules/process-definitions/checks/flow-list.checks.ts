import { childrenOf, idOf, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import type { DraftFlow, DraftNode, ProcessDraft } from '../draft/draft.js';

/**
 * Checks the `incoming` and `outgoing` children of nodes. Many tools write none; then only `sourceRef` and `targetRef` say how
 * nodes are connected. A file with one such child must have all of them, and they must agree (BPMN 2.0.2, 8.4.11).
 */
export function checkFlowLists(drafts: readonly ProcessDraft[], problems: DefinitionProblems): void {
  const nodes = drafts.flatMap((draft) => draft.nodes);
  const listed = nodes.some(
    ({ element }) => childrenOf(element, 'incoming').length + childrenOf(element, 'outgoing').length > 0,
  );
  if (listed) {
    nodes.forEach((node) => {
      check(node, 'incoming', node.incoming, problems);
      check(node, 'outgoing', node.outgoing, problems);
    });
  }
}

function check(
  node: DraftNode,
  side: 'incoming' | 'outgoing',
  flows: readonly DraftFlow[],
  problems: DefinitionProblems,
): void {
  const listed: BpmnElement[] = childrenOf(node.element, side);
  const actual = new Set(flows.map(({ element }) => element));
  const missing = flows.filter(({ element }) => !listed.includes(element)).map(({ key }) => key);
  const wrong = listed.filter((element) => !actual.has(element)).map((element) => idOf(element) ?? '');
  const twice = listed.length - wrong.length - (flows.length - missing.length) > 0;
  if (missing.length + wrong.length > 0 || twice) {
    const parts = [
      missing.length > 0 ? `${missing.join(', ')} missing` : '',
      wrong.length > 0 ? `${wrong.join(', ')} wrong` : '',
      twice ? 'one listed twice' : '',
    ];
    const detail = parts.filter((part) => part !== '').join('; ');
    const message = `The ${side} list of ${kindOf(node.element)} "${node.key}" does not agree with the sequence flows: ${detail}.`;
    problems.error('FLOW_LISTS_DISAGREE', node.element, message);
  }
}
