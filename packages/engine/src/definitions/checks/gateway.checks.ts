import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, idOf, kindOf, textOf } from '../model/bpmn-element.js';
import { isActivity, isGateway, mayLeadOn, type DraftNode, type ProcessDraft } from '../draft/draft.js';
import type { CheckContext } from './level.checks.js';

/** Checks gateways and the choice between flows (BPMN 2.0.2, 8.4.13, 10.6 and 13.4). */
export function checkGateways(draft: ProcessDraft, { problems, complete }: CheckContext): void {
  const connected = complete && draft.loose.size === 0;
  for (const node of draft.nodes) {
    checkDefault(node, draft, problems);
    if (isGateway(node) && connected) {
      checkShape(node, problems);
      checkDirection(node, problems);
    }
    if (node.kind === 'EXCLUSIVE_GATEWAY') {
      warnOfUntaken(node, problems);
    }
    if (node.kind === 'EVENT_BASED_GATEWAY') {
      checkEventBased(node, draft, problems);
    }
    if (isActivity(node)) {
      checkConditional(node, draft, problems);
    }
  }
}

function checkDefault(node: DraftNode, { loose }: ProcessDraft, problems: DefinitionProblems): void {
  const flow = childOf(node.element, 'default');
  if (flow === undefined || loose.has(flow)) {
    return;
  }
  const own = node.outgoing.find(({ element }) => element === flow);
  if (own === undefined) {
    const message = `The default flow "${idOf(flow) ?? ''}" of "${node.key}" does not start there.`;
    problems.error('INVALID_DEFAULT', node.element, message);
  } else if (childOf(flow, 'conditionExpression') !== undefined) {
    const message = `The default flow "${own.key}" cannot have a condition: it is taken when no other flow is.`;
    problems.error('INVALID_DEFAULT', flow, message);
  }
}

/** Warns of a default flow that is never taken, because an unconditional flow of the exclusive gateway always is. */
function warnOfUntaken({ element, key, outgoing }: DraftNode, problems: DefinitionProblems): void {
  const flow = childOf(element, 'default');
  const always = outgoing.find(
    (one) => one.element !== flow && childOf(one.element, 'conditionExpression') === undefined,
  );
  if (always !== undefined && outgoing.some((one) => one.element === flow)) {
    const message = `The default flow of "${key}" is never taken, because the flow "${always.key}" has no condition and is always taken.`;
    problems.warning('DEFAULT_NEVER_TAKEN', flow ?? element, message);
  }
}

/** BPMN 2.0.2, 10.6.1: a gateway joins flows, splits them, or both. */
function checkShape(node: DraftNode, problems: DefinitionProblems): void {
  if (node.incoming.length < 2 && node.outgoing.length < 2) {
    const message = `${kindOf(node.element)} "${node.key}" needs several incoming or several outgoing flows; with one of each it has no effect.`;
    problems.error('USELESS_GATEWAY', node.element, message);
  }
}

function checkDirection(node: DraftNode, problems: DefinitionProblems): void {
  const direction = textOf(node.element, 'gatewayDirection');
  const joins = node.incoming.length > 1;
  const splits = node.outgoing.length > 1;
  const fits = {
    Converging: joins && !splits,
    Diverging: splits && !joins,
    Mixed: joins && splits,
  }[direction ?? ''];
  if (fits === false) {
    const message = `gatewayDirection="${direction}" does not fit ${node.incoming.length} incoming and ${node.outgoing.length} outgoing flows.`;
    problems.error('GATEWAY_DIRECTION', node.element, message);
  }
}

/** BPMN 2.0.2, 8.4.13: a task with a conditional flow needs another outgoing flow. */
function checkConditional(node: DraftNode, draft: ProcessDraft, problems: DefinitionProblems): void {
  const [only, ...others] = node.outgoing;
  if (
    only !== undefined &&
    others.length === 0 &&
    childOf(only.element, 'conditionExpression') !== undefined &&
    !mayLeadOn(node, draft)
  ) {
    const message = `The only flow out of "${node.key}" may have no condition; add another flow or remove the condition.`;
    problems.error('CONDITION_WITHOUT_ALTERNATIVE', only.element, message);
  }
}

/** BPMN 2.0.2, 10.6.6. */
function checkEventBased(node: DraftNode, draft: ProcessDraft, problems: DefinitionProblems): void {
  const targets = node.outgoing.map(({ target }) => target);
  if (targets.length < 2 && !mayLeadOn(node, draft)) {
    problems.error(
      'INVALID_EVENT_GATEWAY',
      node.element,
      'An event-based gateway needs at least two events.',
    );
  }
  if (textOf(node.element, 'eventGatewayType') === 'Parallel') {
    problems.error('UNSUPPORTED_ELEMENT', node.element, 'A parallel eventBasedGateway is not executed here.');
  }
  targets.forEach((target) => checkAwaited(target, problems));
  const receives = targets.some(({ kind }) => kind === 'RECEIVE_TASK');
  const messages = targets.some(
    (target) => target.kind !== 'RECEIVE_TASK' && target.event?.type === 'MESSAGE',
  );
  if (receives && messages) {
    const message = 'An event-based gateway can lead to receive tasks or message events, but not both.';
    problems.error('INVALID_EVENT_GATEWAY', node.element, message);
  }
}

function checkAwaited(target: DraftNode, problems: DefinitionProblems): void {
  const refuse = (message: string): void =>
    problems.error(
      'INVALID_EVENT_GATEWAY',
      target.element,
      `"${target.key}", after an event-based gateway, ${message}`,
    );
  if (target.kind !== 'RECEIVE_TASK' && target.kind !== 'INTERMEDIATE_CATCH_EVENT') {
    refuse('must be a message or timer catch event, or a receive task.');
  }
  if (target.incoming.length > 1) {
    refuse('cannot have another incoming flow.');
  }
  if (target.boundaries.length > 0) {
    refuse('cannot have boundary events.');
  }
}
