import type { ActionOperation, CopyRule } from '../model/process-graph.types.js';
import { childrenOf, textOf } from '../model/bpmn-element.js';
import { Values } from '../draft/values.js';

/** Parts of each kind of action. */
const PARTS = {
  saveData: ['data'],
  startWorkflow: ['workflow', 'appId', 'input', 'resultKey'],
  startSubprocess: ['process', 'appId', 'startCondition', 'copy', 'copyKeys'],
  appendToParent: ['paths'],
  sendMessage: ['message', 'correlation', 'payload'],
} as const;
type Kind = keyof typeof PARTS;

const KINDS = Object.keys(PARTS) as Kind[];
const ALL_PARTS: readonly string[] = [...new Set(Object.values(PARTS).flat())];

/** Reads the operation of an action: its `kind` (saveData without one) and the parts of that kind. */
export function readOperation(values: Values, manual: boolean): ActionOperation {
  const kind = values.oneOf('kind', KINDS, 'saveData');
  refuseForeign(values, kind);
  switch (kind) {
    case 'saveData':
      return saveData(values, manual);
    case 'startWorkflow':
      return {
        kind: 'START_WORKFLOW',
        workflow: values.required('workflow', 'startWorkflow'),
        appId: values.text('appId'),
        input: values.jsonTemplate('input'),
        resultKey: values.path('resultKey'),
      };
    case 'startSubprocess':
      return {
        kind: 'START_SUBPROCESS',
        process: values.required('process', 'startSubprocess'),
        appId: values.text('appId'),
        startCondition: values.text('startCondition'),
        copy: readCopyRule(values),
      };
    case 'appendToParent':
      return { kind: 'APPEND_TO_PARENT', paths: parentPaths(values) };
    case 'sendMessage':
      return {
        kind: 'SEND_MESSAGE',
        message: values.required('message', 'sendMessage'),
        correlation: values.expression('correlation'),
        payload: values.jsonTemplate('payload'),
      };
  }
}

/** Which data a child process starts with: `copy` is all, only or except, the latter two with `copyKeys`. */
export function readCopyRule(values: Values): CopyRule {
  const mode = values.oneOf('copy', ['all', 'only', 'except'], 'all');
  const keys = values.paths('copyKeys');
  if (mode === 'all' && keys.length > 0) {
    values.error('INVALID_VALUE', 'copyKeys needs copy="only" or copy="except".');
  }
  if (mode === 'all') {
    return { mode: 'ALL' };
  }
  return { mode: mode === 'only' ? 'ONLY' : 'EXCEPT', keys };
}

function saveData(values: Values, manual: boolean): ActionOperation {
  const data = values.jsonTemplate('data');
  if (manual && data !== null) {
    const message =
      'A manual action stores what the caller sends, not data. Set defaults in the body of the UI action.';
    values.error('INVALID_ACTION', message);
  }
  const isUnspecified =
    textOf(values.element, 'data') === undefined && ['saveData', null].includes(values.text('kind'));
  if (!manual && isUnspecified) {
    const message =
      'An automatic saveData needs data; for an action that a person executes, set manual="true".';
    values.error('MISSING_VALUE', message);
  }
  return { kind: 'SAVE_DATA', data };
}

function parentPaths(values: Values): Record<string, string> {
  const elements = childrenOf(values.element, 'paths');
  if (elements.length === 0) {
    values.error('MISSING_VALUE', 'appendToParent needs svc:path elements with from and to.');
  }
  const paths = new Map<string, string>();
  for (const element of elements) {
    const path = values.of(element);
    const from = path.path('from');
    const to = path.path('to');
    if (from === null || to === null || paths.has(from)) {
      path.error('INVALID_VALUE', 'Each svc:path needs a unique from, and a to.');
    } else {
      paths.set(from, to);
    }
  }
  return Object.fromEntries(paths);
}

/** Rejects parts of other kinds of actions, which would otherwise be ignored silently. */
function refuseForeign(values: Values, kind: Kind): void {
  const known: readonly string[] = PARTS[kind];
  for (const part of ALL_PARTS) {
    const given = textOf(values.element, part) !== undefined || childrenOf(values.element, part).length > 0;
    if (given && !known.includes(part)) {
      values.error('INVALID_ACTION', `An action of kind ${kind} cannot have ${part}.`);
    }
  }
}
