import { parseCycle, parseDateTime, addDuration } from '../../support/iso-8601.js';
import type { EventDefinition, TimerDefinition } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { childOf, childrenOf, kindOf, textOf, type BpmnElement } from '../model/bpmn-element.js';
import { isEvent, type DraftNode, type EventNodeKind } from '../draft/draft.js';
import { Values } from '../draft/values.js';

type EventKind = 'none' | 'terminate' | 'timer' | 'message' | 'error';

/** Allowed event definitions per kind of event (BPMN 2.0.2, tables 10.84 to 10.93, as far as executed here). */
const ALLOWED: Readonly<Record<EventNodeKind, readonly EventKind[]>> = {
  START_EVENT: ['none', 'timer', 'message'],
  END_EVENT: ['none', 'terminate', 'message', 'error'],
  INTERMEDIATE_CATCH_EVENT: ['timer', 'message'],
  INTERMEDIATE_THROW_EVENT: ['none', 'message'],
  BOUNDARY_EVENT: ['timer', 'message', 'error'],
};

const EARLIEST_MS = Date.UTC(1970, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/** Reads the definition of an event, and the message of a send or receive task. */
export class EventReader {
  constructor(private readonly problems: DefinitionProblems) {}

  /** Returns null for a node that is not an event and has no message. */
  read(node: DraftNode): EventDefinition | null {
    if (node.kind === 'SEND_TASK' || node.kind === 'RECEIVE_TASK') {
      return this.taskMessage(node);
    }
    return isEvent(node) ? this.event(node, ALLOWED[node.kind]) : null;
  }

  private event(node: DraftNode, allowed: readonly EventKind[]): EventDefinition {
    const definitions = [
      ...childrenOf(node.element, 'eventDefinitions'),
      ...childrenOf(node.element, 'eventDefinitionRef'),
    ];
    const [definition] = definitions;
    if (definitions.length > 1) {
      const message = `An event can have only one event definition, not ${definitions.length}: multiple events are not executed.`;
      this.problems.error('MULTIPLE_EVENT_DEFINITIONS', node.element, message);
    }
    this.checkShared(node);
    const kind = definition === undefined ? 'none' : kindOf(definition).replace('EventDefinition', '');
    if (isKnown(kind) && !allowed.some((one) => one === kind)) {
      const message = `${kindOf(node.element)} cannot be a ${kind} event. Allowed: ${allowed.join(', ')}.`;
      this.problems.error('INVALID_EVENT_DEFINITION', node.element, message);
    }
    return definition === undefined ? { type: 'NONE' } : this.definition(kind, definition, node);
  }

  /** BPMN 2.0.2, 10.5.1: only definitions outside processes can be shared. */
  private checkShared(node: DraftNode): void {
    for (const shared of childrenOf(node.element, 'eventDefinitionRef')) {
      if (shared.$parent === undefined || kindOf(shared.$parent) !== 'definitions') {
        const message = 'eventDefinitionRef refers to an event definition that belongs to another event.';
        this.problems.error('INVALID_REFERENCE', node.element, message);
      }
    }
  }

  private definition(kind: string, definition: BpmnElement, node: DraftNode): EventDefinition {
    switch (kind) {
      case 'timer':
        return { type: 'TIMER', timer: this.timer(definition, node) };
      case 'message':
        return this.message(definition, node);
      case 'error':
        return { type: 'ERROR', code: this.errorCode(definition, node) };
      case 'terminate':
        return { type: 'TERMINATE' };
      default:
        return { type: 'NONE' };
    }
  }

  private message(holder: BpmnElement, node: DraftNode): EventDefinition {
    const message = childOf(holder, 'messageRef');
    if (message === undefined) {
      if (!this.problems.hasWrongReference(holder)) {
        const text = `${kindOf(node.element)} must name the message that it waits for or sends: set messageRef.`;
        this.problems.error('MISSING_MESSAGE', node.element, text);
      }
      return { type: 'MESSAGE', message: '', correlation: null };
    }
    if (
      ![holder, message].some((at) => at.correlation !== undefined) &&
      childOf(holder, 'operationRef') === undefined
    ) {
      const text = `The message has no correlation, which selects the instance: set svc:correlation on the message or here (empty for any instance), or set operationRef.`;
      this.problems.error('MISSING_CORRELATION', node.element, text);
    }
    return {
      type: 'MESSAGE',
      message: textOf(message, 'name')?.trim() || (textOf(message, 'id') ?? ''),
      correlation: new Values(holder.correlation === undefined ? message : holder, this.problems).expression(
        'correlation',
      ),
    };
  }

  /** Reads the message of a task. A send task may instead send through its actions; a receive task needs a message. */
  private taskMessage(node: DraftNode): EventDefinition | null {
    const isUnspecified = node.kind === 'SEND_TASK' && childOf(node.element, 'messageRef') === undefined;
    return isUnspecified ? null : this.message(node.element, node);
  }

  private errorCode(definition: BpmnElement, node: DraftNode): string | null {
    const error = childOf(definition, 'errorRef');
    const code = (error && textOf(error, 'errorCode')?.trim()) || null;
    const isMissing = code === null && (error !== undefined || node.kind === 'END_EVENT');
    if (isMissing && !this.problems.hasWrongReference(definition)) {
      const message =
        error === undefined
          ? 'An error end event must name the error that it throws: set errorRef.'
          : 'The error of this event has no errorCode.';
      this.problems.error('MISSING_ERROR_CODE', node.element, message);
    }
    return code;
  }

  private timer(definition: BpmnElement, node: DraftNode): TimerDefinition {
    const values = new Values(definition, this.problems);
    const given = (['timeDate', 'timeDuration', 'timeCycle'] as const).flatMap((property) => {
      const expression = childOf(definition, property);
      return expression === undefined ? [] : [{ property, expression }];
    });
    const [timer] = given;
    if (timer === undefined || given.length > 1) {
      values.error('INVALID_TIMER', 'A timer must have exactly one of timeDate, timeDuration and timeCycle.');
      return { type: 'DURATION', expression: '' };
    }
    this.checkFormal(timer.expression);
    const expression = textOf(timer.expression, 'body')?.trim() ?? '';
    const type = TIMER_TYPES[timer.property];
    this.checkTimer({ type, expression }, node, values);
    return { type, expression };
  }

  private checkFormal(expression: BpmnElement): void {
    if (kindOf(expression) !== 'formalExpression') {
      const message = 'An executable expression must have xsi:type="bpmn:tFormalExpression".';
      this.problems.error('EXPRESSION_NOT_FORMAL', expression, message);
    }
  }

  private checkTimer({ type, expression }: TimerDefinition, node: DraftNode, values: Values): void {
    const start = node.kind === 'START_EVENT';
    if (type === 'DURATION' && start) {
      values.error(
        'INVALID_TIMER',
        'A timer start event needs a date or a cycle: a duration would have no start time.',
      );
    } else if (expression.includes('${')) {
      this.checkReferences(expression, start, values);
    } else if (type === 'DURATION') {
      values.isDuration(expression, 'timeDuration');
    } else if (type === 'DATE') {
      checkDate(expression, values);
    } else {
      checkCycle(expression, values);
    }
  }

  private checkReferences(expression: string, start: boolean, values: Values): void {
    if (start) {
      values.error(
        'INVALID_TIMER',
        'A timer start event cannot use ${…}: there is no data before the start.',
      );
      return;
    }
    values.isTemplate(expression, 'timer');
  }
}

/** Whether a kind is executed; others have already been rejected by name. */
function isKnown(kind: string): boolean {
  return Object.values(ALLOWED).some((kinds) => kinds.some((one) => one === kind));
}

const TIMER_TYPES = { timeDate: 'DATE', timeDuration: 'DURATION', timeCycle: 'CYCLE' } as const;

function checkDate(text: string, values: Values): void {
  const moment = parseDateTime(text);
  if (moment === undefined || moment < EARLIEST_MS || moment > LATEST_MS) {
    values.error(
      'INVALID_TIMER',
      `timeDate must be a time such as 2030-01-31T08:00:00Z, not "${text.slice(0, 80)}".`,
    );
  }
}

/** Checks a cycle. Occurrences must be at least a second apart, to prevent busy loops. */
function checkCycle(text: string, values: Values): void {
  const cycle = parseCycle(text);
  if (cycle === undefined || cycle.repetitions === 0 || addDuration(0, cycle.interval) < 1_000) {
    const message = `timeCycle must be R[n]/duration of at least a second, such as R5/PT1H, not "${text.slice(0, 80)}".`;
    values.error('INVALID_TIMER', message);
    return;
  }
  values.isDuration(text.slice(text.indexOf('/') + 1), 'The interval of timeCycle');
}
