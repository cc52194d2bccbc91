import type { JsonObject, JsonValue } from '../../json/json.js';

/** States of a process instance (docs/process-semantics.md, section 3). */
export const INSTANCE_STATES = [
  'CREATED',
  'STARTED',
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'DISMISSED',
  'ABORTED',
  'ONHOLD',
] as const;
export type InstanceStatus = (typeof INSTANCE_STATES)[number];

/** States of a token (docs/process-semantics.md, section 4). */
export const TOKEN_STATES = [
  'ACTIVE',
  'INACTIVE',
  'ABORTED',
  'ON_HOLD',
  'DISMISSED',
  'EXPIRED',
  'TERMINATED',
] as const;
export type TokenStatus = (typeof TOKEN_STATES)[number];

/** What a token does at its node (docs/process-semantics.md, section 4). */
export const NODE_STATES = [
  'ARRIVED',
  'EXECUTING',
  'EXECUTED_COMPLETE',
  'EXECUTED_PARTIAL',
  'WAITING_MESSAGE_EVENT',
  'WAITING_TIMER_EVENT',
  'WAITING_MESSAGE',
  'MESSAGE_RECEIVED',
  'MESSAGE_RESPONSE_TIMED_OUT',
] as const;
export type NodeStatus = (typeof NODE_STATES)[number];

/** What became of an action in the present visit of its node. */
export interface ActionState {
  /** PENDING: begun in the background (delay, workflow). */
  state: 'PENDING' | 'COMPLETED';
  runs: number;
  /** Epoch milliseconds. */
  lastExecutedAt: number;
}

/** A live token. Only live ones (ACTIVE, ON_HOLD, parked at a join) are given to the engine. */
export interface TokenState {
  id: number;
  uuid: string;
  parentId: number | null;
  /** Token that waits at the embedded subprocess this one runs in; null at the top. */
  scopeTokenId: number | null;
  /** Graph indexes. */
  startNode: number;
  node: number;
  state: TokenStatus;
  status: NodeStatus;
  /** From 1; grows by one whenever the token leaves a node. Jobs and waits of an earlier visit mean nothing any more. */
  visit: number;
  /**
   * Children made by a split and those of them that have reached a join. A token that waits at an embedded subprocess is
   * ON_HOLD too, and the parent of the tokens that start in it, but counts none.
   */
  syncCount: number;
  syncFinished: number;
  /** By svcUuid of the action. */
  actions: Record<string, ActionState>;
  /** CALL_ACTIVITY that waits: what its children have answered, in the order of the collection. */
  call: CallProgress | null;
  /** Row version as loaded; 0 for a new one. */
  rev: number;
}

/** Children of one visit of a call activity. */
export interface CallProgress {
  total: number;
  /** How many have been started; less than `total` for sequential ones. */
  started: number;
  /** Answers by index; absent while one runs. */
  results: Record<string, JsonValue>;
  /** Elements of the collection; null without multi-instance. */
  items: JsonValue[] | null;
}

/**
 * Tokens parked at a join: for each incoming flow of the gateway the tokens that have arrived over it. A parked token is
 * INACTIVE when its parent is on hold; one without such a parent stays ACTIVE, so that the instance goes on.
 */
export interface JoinState {
  node: number;
  scopeTokenId: number | null;
  /** Token ids by position in the gateway's `incoming`. */
  arrivals: number[][];
  /** Incoming flows that no live token can come over any more, so that it waits for ever; absent while it can be completed. */
  missing?: number[];
}

/** A manual action that was executed, kept for going back (docs/contract.md, section 4.2). */
export interface ReturnPoint {
  node: number;
  actionSvcUuid: string;
  /** Token and visit that executed it. */
  tokenId: number;
  visit: number;
  /** Tokens that stood in its place before going back; children that they started end with the next return. */
  formerTokens: number[];
  /** Last event number before it was executed: what was started later lies between. */
  seq: number;
  /** Action states of the token from before it. */
  actionsBefore: Record<string, ActionState>;
  /** Earlier values of the action's `restoreKeys`; absent paths are missing. */
  valuesBefore: Record<string, JsonValue>;
  /** Size of `valuesBefore` as JSON. */
  bytes: number;
}

/** A call that executed a UI action. It tells a repetition of the call from another execution. */
export interface ExecutedCall {
  /** Of this execution alone. */
  id: string;
  actionSvcUuid: string;
  /** Token and visit that executed it. */
  tokenId: number;
  visit: number;
  /** Fingerprint of the caller, hash of what was called with which body. */
  caller: string;
  body: string;
  /** When the last step of the action was made: epoch milliseconds of the database's clock, as late before the commit as can be. */
  at: number;
  /** Revision of the instance that this step made. */
  rev: number;
  /** Where the token stood behind the call (graph index). */
  node: number;
  /** Whether the call had an Idempotency-Key. */
  hasKey?: boolean;
  /** The new token, where the call led back. */
  backTo?: string;
}

/** What of an instance is stored as one text. */
export type InstanceWork = Omit<InstanceState, 'id' | 'uuid' | 'state' | 'seq' | 'parentUuid' | 'tokens'>;

/** Everything of one instance that a step reads and changes. */
export interface InstanceState {
  id: number;
  uuid: string;
  state: InstanceStatus;
  data: JsonObject;
  joins: JoinState[];
  returnPoints: ReturnPoint[];
  /** The last calls that executed UI actions; the engine keeps them and reads nothing of them. */
  executions: ExecutedCall[];
  /** Nodes that wait for a CONTINUE because a step reached its bound. */
  pending: { tokenId: number; flow: number }[];
  /** Steps in succession that have reached that bound; 0 once all tokens rest. */
  continues: number;
  /** Last event number. */
  seq: number;
  backCounter: number;
  /** Of the instance that called this one. */
  parentUuid: string | null;
  tokens: Map<number, TokenState>;
}

/** A token on a visit, and an action of the node where it stands. */
interface OfVisit {
  tokenId: number;
  visit: number;
}
interface OfAction extends OfVisit {
  actionSvcUuid: string;
}
/** Ends that come from outside of an instance. */
type ForcedEnd = 'TERMINATED' | 'EXPIRED' | 'DISMISSED' | 'ABORTED';

/** What a step is asked to do. */
export type EngineCommand =
  | { kind: 'START'; startNode: number; data: JsonObject; patch?: JsonObject }
  /** With `goesBack` it leads back, or is refused. */
  | { kind: 'UI_ACTION'; tokenId: number; uiActionSvcUuid: string; body: JsonObject; goesBack?: boolean }
  | ({ kind: 'ACTION_DUE' } & OfAction)
  | ({ kind: 'ACTION_DONE'; output: JsonValue } & OfAction)
  /** The workflow of an action failed for good: an error boundary event that names the code takes it, or it is an incident. */
  | ({ kind: 'ACTION_FAILED'; errorCode: string | null; message: string } & OfAction)
  /** The workflow of an action has thrown a BPMN error. */
  | ({ kind: 'ACTION_ERROR'; errorCode: string } & OfAction)
  | ({ kind: 'TIMER'; node: number } & OfVisit)
  | ({ kind: 'MESSAGE'; node: number; payload: JsonObject } & OfVisit)
  | ({ kind: 'CHILD_ENDED'; index: number; outcome: ChildOutcome } & OfVisit)
  /** A call that a token waits for cannot be made: an error boundary event that names the code takes it, or it is an incident. */
  | ({ kind: 'CALL_FAILED'; index: number; type: IncidentType; message: string } & OfVisit)
  | { kind: 'APPEND'; values: { path: string; value: JsonValue }[] }
  | { kind: 'CONTINUE' }
  /**
   * Runs again the work that an incident stopped: an action, or, without one, a call of a call activity. `call` names the call
   * (`node` and `index` of its CALL job). It is needed where there are several calls, or where the token does not wait and may
   * have gone on.
   */
  | ({
      kind: 'RETRY';
      actionSvcUuid: string | null;
      call?: { node: number; index: number };
      patch?: JsonObject;
    } & OfVisit)
  /** An operator corrects process data by a JSON merge patch (RFC 7396), for work that is retried without the engine. */
  | { kind: 'CHANGE_DATA'; patch: JsonObject }
  /** Nothing but a look at the joins that wait. */
  | { kind: 'HOLD' }
  | { kind: 'RELEASE' }
  | { kind: 'END'; state: ForcedEnd };

/**
 * How a called process ended. `FAILED` is a BPMN error that nothing in the process has caught, with its code as `errorCode`.
 * Every other end but `FINISHED` came from outside and has no code.
 */
export type ChildOutcome =
  | { state: 'FINISHED'; data: JsonObject }
  | { state: Exclude<InstanceStatus, 'FINISHED'>; errorCode: string | null };

/**
 * An error as it is thrown where a token stands. A BPMN error is a word of the process. A technical error is a failure, and
 * only an event that names its code catches it. `code` is null for a failure without one.
 */
export type ThrownError = { kind: 'BPMN' | 'TECHNICAL'; code: string | null };

/** Work for the background, stored in the transaction of the step. `at` in epoch milliseconds. */
export type EngineJob =
  | ({ kind: 'TIMER'; node: number; at: number } & OfVisit)
  | ({ kind: 'ACTION_DUE'; at: number } & OfAction)
  | ({ kind: 'WORKFLOW'; workflow: string; appId: string | null; input: JsonObject } & OfAction)
  | ({
      kind: 'CALL';
      /** The call activity, or the node of the START_SUBPROCESS action that `actionSvcUuid` names. */
      node: number;
      actionSvcUuid: string | null;
      index: number;
      /** Number of the last event when it was asked for: stored with the child, END_CHILDREN compares it. */
      seq: number;
      waits: boolean;
      process: string;
      appId: string | null;
      startCondition: string | null;
      data: JsonObject;
    } & OfVisit)
  | { kind: 'PUBLISH_MESSAGE'; message: string; correlation: string | null; payload: JsonObject }
  | { kind: 'APPEND_TO_PARENT'; values: { path: string; value: JsonValue }[] }
  /**
   * Ends running children and drops CALL jobs that have not run yet. `tokenId` null: all children of the instance. With
   * `visit`: the children that this visit of the token waits for. Without `visit`: the children that the token and the tokens
   * below it have started since `sinceSeq`, the least `seq` of their CALL jobs.
   */
  | {
      kind: 'END_CHILDREN';
      tokenId: number | null;
      visit: number | null;
      sinceSeq: number;
      state: ForcedEnd;
    }
  | { kind: 'NOTIFY_PARENT'; outcome: ChildOutcome }
  | { kind: 'CONTINUE'; at: number };

/**
 * A token that starts to wait for a message at a node (the token's own, a boundary event or one behind an event-based gateway). A
 * delivered message uses its wait up; a non-interrupting boundary event then waits anew.
 */
export interface MessageWait {
  tokenId: number;
  visit: number;
  node: number;
  message: string;
  correlation: string | null;
}

/** One line of the audit trail; numbered without gaps in an instance. */
export interface EngineEvent {
  seq: number;
  kind: EngineEventKind;
  tokenId: number | null;
  node: number | null;
  data: JsonObject | null;
}

/** What the engine tells of, in the order in which the OpenAPI document has it. */
export const ENGINE_EVENT_KINDS = [
  'INSTANCE_STATE',
  'TOKEN_CREATED',
  'TOKEN_STATE',
  'NODE_ENTERED',
  'NODE_LEFT',
  'ACTION_EXECUTED',
  'BACK',
  'TIMER_FIRED',
  'MESSAGE_RECEIVED',
  'MESSAGE_PUBLISHED',
  'CHILD_STARTED',
  'CHILD_ENDED',
  'ERROR_THROWN',
  'RETRY',
  'DATA_APPENDED',
  'DATA_CHANGED',
] as const;
export type EngineEventKind = (typeof ENGINE_EVENT_KINDS)[number];

/** Bounds of one step and of one instance. */
export interface StepLimits {
  /** Automatic nodes that one step executes; a background job continues after that. */
  readonly nodesPerStep: number;
  /** Consecutive steps without a token coming to rest; more are an incident. */
  readonly continues: number;
  /** Live tokens of one process instance. */
  readonly liveTokens: number;
  /** Elements of the collection of a call activity. */
  readonly items: number;
  /** Work of all expressions and templates of one step, in units of about half a microsecond. */
  readonly expressionSteps: number;
  /** Executed actions of one process instance that can be undone by going back; the oldest are dropped. */
  readonly returnPoints: number;
  /** Bytes of process data as JSON, and values, those inside of others included. */
  readonly dataBytes: number;
  readonly dataValues: number;
}

/** Values that a step gets from outside. The engine itself reads no clock and makes no random number. */
export interface StepContext {
  /** Epoch milliseconds. */
  now: number;
  newToken: () => { id: number; uuid: string };
  limits: StepLimits;
}

/** What a step changed: apply it in one transaction. */
export interface StepResult {
  /** The new state; the one given is left as it was. */
  instance: InstanceState;
  /** Tokens that are new or changed, the ended ones too. Ended and consumed ones are no longer in `instance.tokens`. */
  changedTokens: TokenState[];
  events: EngineEvent[];
  jobs: EngineJob[];
  /**
   * Tokens with TIMER, ACTION_DUE and WORKFLOW jobs and waits of earlier visits that mean nothing any more: cancel them, then
   * add `jobs` and `waits`. When the token has ended, this holds for all visits. Other jobs stay.
   */
  cancelledTokens: number[];
  waits: MessageWait[];
  /** UI_ACTION: where the token stands afterwards. */
  action: { tokenId: number; node: number; back: boolean } | null;
  /** Notes for readers on which nobody has to act, such as references to missing data. */
  warnings: string[];
}

/** Where a failed step can stop (docs/process-semantics.md, section 11). */
export const INCIDENT_SOURCES = ['ACTION', 'NODE', 'SUBPROCESS', 'PROCESS_DEFINITION'] as const;
export const INCIDENT_TYPES = [
  'CONDITION_EVALUATION',
  'GATEWAY_EVALUATION',
  'JOIN_NEVER_COMPLETED',
  'NODE',
  'ENGINE',
  'DEFINITION',
  'SUBPROCESS',
  'WORKFLOW',
] as const;

/** Where a failed step stopped; the service records it after the roll-back. */
export type IncidentSource = (typeof INCIDENT_SOURCES)[number];
export type IncidentType = (typeof INCIDENT_TYPES)[number];
