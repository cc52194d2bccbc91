import { hintOf } from '../../expressions/expression-hints.js';
import { yieldEventLoop } from '../../support/yield-event-loop.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, kindOf, textOf, type BpmnElement } from '../model/bpmn-element.js';
import { isActivity, type DraftFlow, type DraftNode, type ProcessDraft } from '../draft/draft.js';
import { Values } from '../draft/values.js';

/** Accepted names of CEL as an expression language. */
const CEL: ReadonlySet<string> = new Set(['cel', 'CEL', 'https://cel.dev']);

/**
 * Reads the conditions of sequence flows and checks where they are allowed (BPMN 2.0.2, 8.4.13 and 13.4). A parallel gateway takes
 * every flow, so its conditions are ignored with a warning.
 */
export async function readFlowConditions(draft: ProcessDraft, problems: DefinitionProblems): Promise<void> {
  for (const flow of draft.flows) {
    flow.condition = conditionOf(flow, problems);
    await yieldEventLoop();
  }
}

function conditionOf(flow: DraftFlow, problems: DefinitionProblems): string | null {
  const expression = childOf(flow.element, 'conditionExpression');
  if (expression === undefined) {
    return null;
  }
  const values = new Values(expression, problems);
  if (flow.source.kind === 'PARALLEL_GATEWAY') {
    values.warning('CONDITION_IGNORED', 'A parallel gateway takes every flow; the condition is ignored.');
    return null;
  }
  if (!mayDecide(flow.source)) {
    const message = `A flow out of ${kindOf(flow.source.element)} "${flow.source.key}" cannot have a condition.`;
    values.error('CONDITION_NOT_ALLOWED', message);
    return null;
  }
  return celOf(expression, values);
}

function mayDecide(node: DraftNode): boolean {
  return node.kind === 'EXCLUSIVE_GATEWAY' || node.kind === 'INCLUSIVE_GATEWAY' || isActivity(node);
}

function celOf(expression: BpmnElement, values: Values): string | null {
  const language = textOf(expression, 'language');
  const source = values.text('body');
  if (language !== undefined && !CEL.has(language)) {
    const message = `Conditions must be CEL expressions; the language "${language.slice(0, 80)}" is not supported.`;
    values.error('UNSUPPORTED_LANGUAGE', message);
    return null;
  }
  if (source === null) {
    values.error('MISSING_VALUE', 'The condition is empty.');
    return null;
  }
  return isCondition(expression, source, values) ? source : null;
}

/**
 * BPMN 2.0.2, 8.4.6: without `xsi:type="tFormalExpression"` it is natural-language text. Many tools omit the type, so valid
 * CEL is accepted with a warning.
 */
function isCondition(expression: BpmnElement, source: string, values: Values): boolean {
  if (kindOf(expression) === 'formalExpression') {
    return values.isExpression(source, 'condition');
  }
  const formal = values.isCel(source);
  const hint = formal ? '' : hintOf(source);
  const message = `An executable condition must be a CEL expression with xsi:type="bpmn:tFormalExpression".${hint}`;
  values[formal ? 'warning' : 'error']('EXPRESSION_NOT_FORMAL', message);
  return formal;
}
