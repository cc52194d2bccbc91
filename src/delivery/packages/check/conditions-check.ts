import { DomainError } from '../../../platform/errors/domain.error.js';
import { compileExpression, hintOf } from '#engine/expressions';
import type { Place, PackageProblems } from '../model/package-problems.js';
import type { WorkflowNode } from '../model/package.types.js';
import { requireUniqueNames } from './names.js';

/**
 * Checks a CONDITION: each branch has one condition or is the default, and each condition is CEL. The conditions decide where a run
 * continues; the sequences repeat this for editors.
 */
export function checkConditions(node: WorkflowNode, place: Place, problems: PackageProblems): void {
  const { conditions, outgoingSequences } = node;
  if (conditions.length === 0) {
    problems.error('CONDITIONS_MISSING', place, 'A CONDITION needs at least one entry in "conditions".');
    return;
  }
  const ids = conditions.map(({ id }) => ({ name: id, ...place }));
  requireUniqueNames('conditions', 'ID_NOT_UNIQUE', ids, problems);
  checkOrder(node, place, problems);
  const targets = new Set(outgoingSequences.map(({ targetNodeId }) => targetNodeId));
  for (const { id, expression, nextNodeId, isDefault } of conditions) {
    if (!targets.has(nextNodeId)) {
      const message = `Condition "${id}" leads to "${nextNodeId}", but no outgoing sequence of this node does.`;
      problems.error('CONDITION_WITHOUT_SEQUENCE', place, message);
    }
    checkExpression({ id, expression: expression ?? '', isDefault }, place, problems);
  }
  for (const { id, targetNodeId } of outgoingSequences) {
    if (!conditions.some(({ nextNodeId }) => nextNodeId === targetNodeId)) {
      const message = `No condition leads to the target of sequence "${id}", so it is never taken.`;
      problems.warning('SEQUENCE_WITHOUT_CONDITION', place, message);
    }
  }
}

function checkOrder({ conditions }: WorkflowNode, place: Place, problems: PackageProblems): void {
  const defaults = conditions.filter(({ isDefault }) => isDefault).length;
  if (defaults > 1) {
    problems.error(
      'DEFAULT_NOT_UNIQUE',
      place,
      `A CONDITION can have only one default; this one has ${defaults}.`,
    );
  }
  if (defaults === 0) {
    const message = 'Without a default the run fails when no condition is true.';
    problems.warning('DEFAULT_MISSING', place, message);
  }
  const orders = conditions.filter(({ isDefault }) => !isDefault).map(({ order }) => order);
  if (new Set(orders).size < orders.length) {
    problems.error(
      'ORDER_NOT_UNIQUE',
      place,
      'Two conditions have the same "order". Each needs its own, since the first true one applies.',
    );
  }
}

function checkExpression(
  { id, expression, isDefault }: { id: string; expression: string; isDefault: boolean },
  place: Place,
  problems: PackageProblems,
): void {
  if (isDefault) {
    if (expression.trim() !== '') {
      const message = `Condition "${id}" is the default and has an expression; leave out one of them.`;
      problems.error('DEFAULT_WITH_EXPRESSION', place, message);
    }
    return;
  }
  if (expression.trim() === '') {
    problems.error('EXPRESSION_MISSING', place, `Condition "${id}" needs an expression.`);
    return;
  }
  const what = `Condition "${id}"${hintOf(expression)}`;
  requireCompiles(() => compileExpression(expression), what, place, problems);
}

/** Compiles an expression or template, and reports its error as a problem. Returns whether it compiled. */
export function requireCompiles(
  compile: () => unknown,
  what: string,
  place: Place,
  problems: PackageProblems,
): boolean {
  try {
    compile();
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) {
      throw error;
    }
    problems.error('EXPRESSION_INVALID', place, `${what}: ${error.message}`);
    return false;
  }
}
