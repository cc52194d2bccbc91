import { childrenOf, idOf, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import type { DraftFlow, DraftNode, ProcessDraft } from '../draft/draft.js';

type Side = 'incoming' | 'outgoing';

const ENDS = { incoming: 'targetRef', outgoing: 'sourceRef' } as const;

/**
 * Checks the `incoming` and `outgoing` children of nodes. Many tools omit them; then only `sourceRef` and `targetRef` connect
 * nodes. A file with one such child must have all of them, and they must match (BPMN 2.0.2, 8.4.11).
 */
export function checkFlowLists(drafts: readonly ProcessDraft[], problems: DefinitionProblems): void {
  const listed = drafts.some(({ nodes }) =>
    nodes.some(
      ({ element }) => childrenOf(element, 'incoming').length + childrenOf(element, 'outgoing').length > 0,
    ),
  );
  for (const { nodes, loose } of listed ? drafts : []) {
    nodes.forEach((node) => {
      check(node, 'incoming', node.incoming, { loose, problems });
      check(node, 'outgoing', node.outgoing, { loose, problems });
    });
  }
}

function check(
  node: DraftNode,
  side: Side,
  flows: readonly DraftFlow[],
  { loose, problems }: { loose: ProcessDraft['loose']; problems: DefinitionProblems },
): void {
  const listed: BpmnElement[] = childrenOf(node.element, side).filter((element) => !loose.has(element));
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
    const message = `The ${side} list of ${kindOf(node.element)} "${node.key}" does not agree with the sequence flows: ${detail}. ${whatToDo(side)}`;
    problems.error('FLOW_LISTS_DISAGREE', node.element, message);
  }
}

/** Explains the options, since only the author knows which side is right. Most often the lists are left over from an edit. */
function whatToDo(side: Side): string {
  return (
    `Where ${ENDS[side]} of the flows is right, write the <${side}> children of the node accordingly, ` +
    'or take all <incoming> and <outgoing> out of the file: without them the flows alone decide.'
  );
}
