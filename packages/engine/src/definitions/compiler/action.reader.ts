import { didYouMean } from '../../support/nearest-name.js';
import { hasActions, warnOfIdleTask } from '../checks/implementation.checks.js';
import type { GraphAction, GraphUiAction } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { partsOf, type BpmnElement } from '../model/bpmn-element.js';
import type { DraftNode } from '../draft/draft.js';
import { checkSchema } from './json-schema.check.js';
import { readOperation } from './operation.reader.js';
import type { SvcUuids } from './svc-uuids.js';
import { Values } from '../draft/values.js';

/** Nodes that may have actions (docs/process-semantics.md, section 6). */
const WITH_ACTIONS = new Set(['task', 'serviceTask', 'userTask', 'sendTask']);
const MAX_ACTIONS = 100;
const ALLOW_BACK = ['false', 'true', 'explicit'] as const;

/** Reads the actions and UI actions of a node from its extension elements. */
export class ActionReader {
  constructor(
    private readonly problems: DefinitionProblems,
    private readonly uuids: SvcUuids,
  ) {}

  /** Returns the actions in execution order. */
  actionsOf(node: DraftNode, kind: string): GraphAction[] {
    const elements = actionElements(node);
    if (elements.length === 0) {
      return this.withoutActions(node, kind);
    }
    if (!WITH_ACTIONS.has(kind) || elements.length > MAX_ACTIONS) {
      const message = `Only tasks, service tasks, user tasks and send tasks can have actions, at most ${MAX_ACTIONS}; ${kind} "${node.key}" cannot.`;
      this.problems.error('ACTIONS_NOT_ALLOWED', node.element, message);
      return [];
    }
    const actions = elements.map((element, index) => this.action(element, node, { kind, index }));
    this.checkTogether(actions, node);
    const waits = actions.some(({ manual, optional }) => manual && !optional);
    if (node.kind === 'USER_TASK' && !waits && !this.hasMisspeltAttribute(node)) {
      this.warnOfPassing(node);
    }
    return actions.toSorted((a, b) => a.order - b.order);
  }

  /** Handles a node without actions: a user task gets an implicit one, other tasks a warning. */
  private withoutActions(node: DraftNode, kind: string): GraphAction[] {
    if (node.kind === 'USER_TASK') {
      return uiActionElements(node).length === 0 ? [implicitAction(node.key, this.uuids)] : [];
    }
    warnOfIdleTask(node, kind, this.problems);
    return [];
  }

  /** Warns of a user task without a mandatory manual action, which does not wait (docs/process-semantics.md, section 6). */
  private warnOfPassing(node: DraftNode): void {
    const message = `User task "${node.key}" has no mandatory manual action, so the token does not wait for anyone.`;
    this.problems.warning('USER_TASK_DOES_NOT_WAIT', node.element, message);
  }

  uiActionsOf(node: DraftNode, kind: string, actions: readonly GraphAction[]): GraphUiAction[] {
    const elements = uiActionElements(node);
    if (elements.length > 0 && (kind !== 'userTask' || elements.length > MAX_ACTIONS)) {
      const message = `Only user tasks can have UI actions, at most ${MAX_ACTIONS}.`;
      this.problems.error('ACTIONS_NOT_ALLOWED', node.element, message);
      return [];
    }
    if (elements.length === 0 && actions.length > 0 && !hasActions(node.element)) {
      return [implicitUiAction(node.key, this.uuids)];
    }
    const uiActions = elements.map((element) => this.uiAction(element, node, actions));
    this.checkNames(uiActions, 'UI action', node);
    if (!this.hasMisspeltAttribute(node)) {
      this.warnOfUnreachable(uiActions, node, actions);
    }
    return uiActions;
  }

  /** Warns of manual actions without a UI action, which can never be executed, so a token would wait forever. */
  private warnOfUnreachable(
    uiActions: readonly GraphUiAction[],
    node: DraftNode,
    actions: readonly GraphAction[],
  ): void {
    const reached = new Set(uiActions.map(({ action }) => action));
    for (const { name } of actions.filter((one) => one.manual && !reached.has(one.name))) {
      const message = `The manual action "${name}" can never be executed: no svc:uiAction of "${node.key}" refers to it.`;
      this.problems.warning('ACTION_WITHOUT_UI_ACTION', node.element, message);
    }
  }

  private action(element: BpmnElement, node: DraftNode, at: { kind: string; index: number }): GraphAction {
    const values = new Values(element, this.problems);
    const name = values.required('name', 'An action');
    const manual = values.flag('manual', false);
    const optional = values.flag('optional', false);
    if (manual && at.kind !== 'userTask') {
      values.error('INVALID_ACTION', `Action "${name}" is manual, so it must be on a user task.`);
    }
    if (optional && !manual) {
      values.error('INVALID_ACTION', `Action "${name}" is automatic, so it cannot be optional.`);
    }
    const delay = values.duration('delay', true);
    if (manual && delay !== null) {
      values.error('INVALID_ACTION', `Action "${name}" is manual, so it cannot have a delay.`);
    }
    return {
      svcUuid: this.uuids.given(values) ?? this.uuids.ofAction(node.key, name),
      name,
      order: values.number('order') ?? at.index,
      manual,
      optional,
      delay,
      repeatable: values.flag('repeatable', false),
      keys: this.keys(values, manual),
      parent: values.text('parent'),
      autoRunChildren: values.flag('autoRunChildren', false),
      back: this.back(values, manual),
      operation: readOperation(values, manual),
    };
  }

  /** Reads the whitelist. Data written in the model needs none; data from callers does. */
  private keys(values: Values, manual: boolean): string[] {
    const keys = values.paths('keys', true);
    if (keys.length === 0 && !manual && values.text('keys') === null) {
      return ['*'];
    }
    if (keys.length === 0 && manual && values.text('kind') === null) {
      values.warning(
        'NOTHING_STORED',
        'A manual action without keys stores none of the data that callers send.',
      );
    }
    return keys;
  }

  private back(values: Values, manual: boolean): GraphAction['back'] {
    const allowBack = values.oneOf('allowBack', ALLOW_BACK, 'false');
    const allowed = allowBack !== 'false';
    const back = {
      removeKeys: values.paths('removeKeys'),
      restoreKeys: values.paths('restoreKeys'),
      ...(allowBack === 'explicit' ? { explicit: true as const } : {}),
    };
    if (!allowed && back.removeKeys.length + back.restoreKeys.length > 0) {
      values.error('INVALID_ACTION', 'removeKeys and restoreKeys need allowBack="true" or "explicit".');
    }
    if (allowed && !manual) {
      values.error('INVALID_ACTION', 'Only a manual action can allow going back.');
    }
    return allowed ? back : null;
  }

  private uiAction(element: BpmnElement, node: DraftNode, actions: readonly GraphAction[]): GraphUiAction {
    const values = new Values(element, this.problems);
    const name = values.required('name', 'A UI action');
    const action = values.required('action', 'A UI action');
    if (
      !actions.some((one) => one.name === action && one.manual) &&
      !this.mayBeMisspelt(action, actions, node)
    ) {
      const manual = actions.filter((one) => one.manual).map((one) => one.name);
      const message = `UI action "${name}" names "${action}", which is not a manual action of its user task.`;
      values.error('UNKNOWN_ACTION', `${message}${didYouMean(action, manual)}`);
    }
    const bodySchema = values.json('bodySchema');
    checkSchema(bodySchema, 'bodySchema', values);
    return {
      svcUuid: this.uuids.given(values) ?? this.uuids.ofUiAction(node.key, name),
      name,
      action,
      bodySchema,
      body: values.json('body'),
      excludeKeys: values.paths('excludeKeys'),
    };
  }

  /** Whether an attribute of an action or UI action is misspelt, so that checks across them are unreliable. */
  private hasMisspeltAttribute(node: DraftNode): boolean {
    const all = [...actionElements(node), ...uiActionElements(node)];
    return all.some((one) => this.problems.hasWrongValue(one));
  }

  /** Whether an action might have this name, or be manual, if not for a misspelt attribute. */
  private mayBeMisspelt(wanted: string, actions: readonly GraphAction[], node: DraftNode): boolean {
    return actions.some(({ name }) => name === wanted || name === '') && this.hasMisspeltAttribute(node);
  }

  private checkTogether(actions: readonly GraphAction[], node: DraftNode): void {
    this.checkNames(actions, 'action', node);
    const byName = new Map(actions.map((action) => [action.name, action]));
    this.checkWaits(actions, node, byName);
    for (const action of actions) {
      if (
        action.parent !== null &&
        !byName.has(action.parent) &&
        !this.mayBeMisspelt(action.parent, actions, node)
      ) {
        const hint = didYouMean(action.parent, [...byName.keys()]);
        const message = `The parent "${action.parent}" of action "${action.name}" is not an action of the same node.${hint}`;
        this.problems.error('UNKNOWN_ACTION', node.element, message);
      } else if (isOwnAncestor(action, byName)) {
        const message = `Action "${action.name}" is its own parent, directly or through others.`;
        this.problems.error('ACTION_CYCLE', node.element, message);
      }
    }
  }

  private checkWaits(
    actions: readonly GraphAction[],
    node: DraftNode,
    byName: ReadonlyMap<string, GraphAction>,
  ): void {
    for (const { name, parent, manual } of actions) {
      if (parent !== null && !manual && byName.get(parent)?.autoRunChildren === false) {
        const message = `Action "${name}" never runs: its parent "${parent}" has not autoRunChildren="true".`;
        this.problems.warning('ACTION_NEVER_RUNS', node.element, message);
      }
    }
    if (node.element.canGoBack === 'false' && actions.some(({ back }) => back !== null)) {
      const message = `"${node.key}" has svc:canGoBack="false", so none of its actions can allow going back.`;
      this.problems.error('BACK_NOT_POSSIBLE', node.element, message);
    }
  }

  private checkNames(named: readonly { name: string }[], what: string, node: DraftNode): void {
    const seen = new Set<string>();
    for (const { name } of named) {
      if (name !== '' && seen.has(name)) {
        this.problems.error(
          'DUPLICATE_NAME',
          node.element,
          `Two ${what}s of this node are called "${name}".`,
        );
      }
      seen.add(name);
    }
  }
}

function actionElements({ element }: DraftNode): BpmnElement[] {
  return partsOf(element, 'svc:Actions', 'actions');
}

function uiActionElements({ element }: DraftNode): BpmnElement[] {
  return partsOf(element, 'svc:UiActions', 'uiActions');
}

function isOwnAncestor(action: GraphAction, byName: ReadonlyMap<string, GraphAction>): boolean {
  const seen = new Set<string>();
  for (let at = action.parent; at !== null && !seen.has(at); at = byName.get(at)?.parent ?? null) {
    if (at === action.name) {
      return true;
    }
    seen.add(at);
  }
  return false;
}

/** Name of the action and the UI action that a user task without actions gets (docs/bpmn.md, "User tasks without actions"). */
const COMPLETE = 'complete';

/** The action for which a user task without actions waits: mandatory, manual, and without data. */
function implicitAction(nodeKey: string, uuids: SvcUuids): GraphAction {
  return {
    svcUuid: uuids.ofAction(nodeKey, COMPLETE),
    name: COMPLETE,
    order: 0,
    manual: true,
    optional: false,
    repeatable: false,
    keys: [],
    parent: null,
    autoRunChildren: false,
    delay: null,
    back: null,
    operation: { kind: 'SAVE_DATA', data: null },
  };
}

/** UI action for the implicit action. Its schema shows front ends that there is no input. */
function implicitUiAction(nodeKey: string, uuids: SvcUuids): GraphUiAction {
  return {
    svcUuid: uuids.ofUiAction(nodeKey, COMPLETE),
    name: COMPLETE,
    action: COMPLETE,
    body: null,
    bodySchema: { type: 'object', additionalProperties: false },
    excludeKeys: [],
  };
}
