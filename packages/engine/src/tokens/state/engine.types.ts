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

/** Status of a token at its node (docs/process-semantics.md, section 4). */
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

/** State of an action in the current visit of its node. */
export interface ActionState {
  /** PENDING: running in the background (delay, workflow). */
  state: 'PENDING' | 'COMPLETED';
  runs: number;
  /** Epoch milliseconds. */
  lastExecutedAt: number;
}

/** A live token: ACTIVE, ON_HOLD or parked at a join. The engine receives only live tokens. */
export interface TokenState {
  id: number;
  uuid: string;
  parentId: number | null;
  /** Token that waits at the enclosing embedded subprocess; null at the top level. */
  scopeTokenId: number | null;
  /** Graph indexes. */
  startNode: number;
  node: number;
  state: TokenStatus;
  status: NodeStatus;
  /** Starts at 1 and grows by one whenever the token leaves a node. Jobs and waits of earlier visits are void. */
  visit: number;
  /**
   * Children created by a split, and how many of them have reached a join. A token that waits at an embedded subprocess is also
   * ON_HOLD and the parent of the tokens inside, but does not count them.
   */
  syncCount: number;
  syncFinished: number;
  /** By svcUuid of the action. */
  actions: Record<string, ActionState>;
  /** Progress of a waiting CALL_ACTIVITY. */
  call: CallProgress | null;
  /** Row version as loaded; 0 for a new one. */
  rev: number;
}

/** Children of one visit of a call activity. */
export interface CallProgress {
  total: number;
  /** Number of started children; less than `total` while a call starts them one by one. */
  started: number;
  /** Results by index; absent while a child runs. */
  results: Record<string, JsonValue>;
  /** Elements of the collection; null without multi-instance. */
  items: JsonValue[] | null;
}

/**
 * Tokens parked at a join, by incoming flow. A parked token is INACTIVE when its parent is on hold; without such a parent it stays
 * ACTIVE, so that the instance does not finish.
 */
export interface JoinState {
  node: number;
  scopeTokenId: number | null;
  /** Token ids by position in the gateway's `incoming`. */
  arrivals: number[][];
  /** Incoming flows over which no live token can arrive, so that the join waits forever; absent while it can be completed. */
  missing?: number[];
}

/** An executed manual action to which a token can go back (docs/contract.md, section 4.2). */
export interface ReturnPoint {
  node: number;
  actionSvcUuid: string;
  /** Token and visit that executed it. */
  tokenId: number;
  visit: number;
  /** Earlier tokens that this one replaced by going back; the next return ends children that they started. */
  formerTokens: number[];
  /** Last event number before the execution; later numbers belong to work started since. */
  seq: number;
  /** Action states of the token before the execution. */
  actionsBefore: Record<string, ActionState>;
  /** Values of the action's `restoreKeys` before the execution; paths without a value are left out. */
  valuesBefore: Record<string, JsonValue>;
  /** Size of `valuesBefore` as JSON. */
  bytes: number;
}

/** A call that executed a UI action, kept to distinguish a repeated call from a new execution. */
export interface ExecutedCall {
  /** Unique per execution. */
  id: string;
  actionSvcUuid: string;
  /** Token and visit that executed it. */
  tokenId: number;
  visit: number;
  /** Fingerprint of the caller, and hash of the target and body of the call. */
  caller: string;
  body: string;
  /** Time of the last step of the action: epoch milliseconds of the database's clock, taken as close to the commit as possible. */
  at: number;
  /** Revision of the instance after this step. */
  rev: number;
  /** Node of the token after the call (graph index). */
  node: number;
  /** Whether the call had an Idempotency-Key. */
  hasKey?: boolean;
  /** The new token if the call went back. */
  backTo?: string;
}

/** Part of an instance that is stored as one JSON document. */
export type InstanceWork = Omit<InstanceState, 'id' | 'uuid' | 'state' | 'seq' | 'parentUuid' | 'tokens'>;

/** State of one instance that a step reads and changes. */
export interface InstanceState {
  id: number;
  uuid: string;
  state: InstanceStatus;
  data: JsonObject;
  joins: JoinState[];
  returnPoints: ReturnPoint[];
  /** The last calls that executed UI actions. The engine keeps them but does not read them. */
  executions: ExecutedCall[];
  /** Moves that wait for a CONTINUE because a step reached its limit. */
  pending: { tokenId: number; flow: number }[];
  /** Consecutive steps that reached this limit; 0 once all tokens rest. */
  continues: number;
  /** Last event number. */
  seq: number;
  backCounter: number;
  /** Instance that called this one. */
  parentUuid: string | null;
  tokens: Map<number, TokenState>;
}

/** A visit of a token, and an action of the visited node. */
interface OfVisit {
  tokenId: number;
  visit: number;
}
interface OfAction extends OfVisit {
  actionSvcUuid: string;
}
/** End states forced from outside the instance. */
type ForcedEnd = 'TERMINATED' | 'EXPIRED' | 'DISMISSED' | 'ABORTED';

/** Command that a step executes. */
export type EngineCommand =
  | { kind: 'START'; startNode: number; data: JsonObject; patch?: JsonObject }
  /** With `goesBack`, it goes back or is refused. */
  | { kind: 'UI_ACTION'; tokenId: number; uiActionSvcUuid: string; body: JsonObject; goesBack?: boolean }
  | ({ kind: 'ACTION_DUE' } & OfAction)
  | ({ kind: 'ACTION_DONE'; output: JsonValue } & OfAction)
  /** The workflow of an action failed permanently: an error boundary event that names the code catches it, or it is an incident. */
  | ({ kind: 'ACTION_FAILED'; errorCode: string | null; message: string } & OfAction)
  /** The workflow of an action has thrown a BPMN error. */
  | ({ kind: 'ACTION_ERROR'; errorCode: string } & OfAction)
  | ({ kind: 'TIMER'; node: number } & OfVisit)
  | ({ kind: 'MESSAGE'; node: number; payload: JsonObject } & OfVisit)
  | ({ kind: 'CHILD_ENDED'; index: number; outcome: ChildOutcome } & OfVisit)
  /** An awaited call cannot be made: an error boundary event that names the code catches it, or it is an incident. */
  | ({ kind: 'CALL_FAILED'; index: number; type: IncidentType; message: string } & OfVisit)
  | { kind: 'APPEND'; values: { path: string; value: JsonValue }[] }
  | { kind: 'CONTINUE' }
  /**
   * Retries the work that an incident stopped: an action or, without one, a call of a call activity. `call` names the call (`node`
   * and `index` of its CALL job). It is required if there are several calls, or if the token does not wait and may have moved on.
   */
  | ({
      kind: 'RETRY';
      actionSvcUuid: string | null;
      call?: { node: number; index: number };
      patch?: JsonObject;
    } & OfVisit)
  /** An operator corrects process data by a JSON merge patch (RFC 7396), for work that is retried without the engine. */
  | { kind: 'CHANGE_DATA'; patch: JsonObject }
  /** Changes the state and checks the waiting joins. */
  | { kind: 'HOLD' }
  | { kind: 'RELEASE' }
  | { kind: 'END'; state: ForcedEnd };

/**
 * How a called process ended. `FAILED` is an uncaught BPMN error with its code as `errorCode`. Every other end except `FINISHED` came
 * from outside and has no code.
 */
export type ChildOutcome =
  | { state: 'FINISHED'; data: JsonObject }
  | { state: Exclude<InstanceStatus, 'FINISHED'>; errorCode: string | null };

/**
 * An error thrown at a token. A BPMN error is modelled in the process. A technical error is a failure that only an event with its code
 * catches; `code` is null for a failure without one.
 */
export type ThrownError = { kind: 'BPMN' | 'TECHNICAL'; code: string | null };

/** Background work, stored in the transaction of the step. `at` is in epoch milliseconds. */
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
      /** Number of the last event at the time of the request. Stored with the child, where END_CHILDREN compares it. */
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
   * Ends running children and drops CALL jobs that have not run yet. `tokenId` null: all children of the instance. With `visit`: the
   * children that this visit waits for. Without `visit`: the children that the token and its descendants have started since
   * `sinceSeq`, the lowest `seq` of their CALL jobs.
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
 * A token's wait for a message at a node: its own, a boundary event, or an event after an event-based gateway. A delivered message
 * consumes the wait; a non-interrupting boundary event then waits again.
 */
export interface MessageWait {
  tokenId: number;
  visit: number;
  node: number;
  message: string;
  correlation: string | null;
}

/** Entry of the audit trail, numbered without gaps within an instance. */
export interface EngineEvent {
  seq: number;
  kind: EngineEventKind;
  tokenId: number | null;
  node: number | null;
  data: JsonObject | null;
}

/** Kinds of events, in the order of the OpenAPI document. */
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

/** Limits of one step and of one instance. */
export interface StepLimits {
  /** Automatic nodes that one step executes before a background job continues. */
  readonly nodesPerStep: number;
  /** Consecutive steps before all tokens rest; more are an incident. */
  readonly continues: number;
  /** Live tokens of one process instance. */
  readonly liveTokens: number;
  /** Elements of the collection of a call activity. */
  readonly items: number;
  /** Work of all expressions and templates of one step, in units of about half a microsecond. */
  readonly expressionSteps: number;
  /** Return points of one process instance; the oldest are dropped. */
  readonly returnPoints: number;
  /** Size of process data in JSON bytes and in values, nested ones included. */
  readonly dataBytes: number;
  readonly dataValues: number;
}

/** Inputs of a step from outside: the engine itself reads no clock and draws no random numbers. */
export interface StepContext {
  /** Epoch milliseconds. */
  now: number;
  newToken: () => { id: number; uuid: string };
  limits: StepLimits;
}

/** Changes made by a step; apply them in one transaction. */
export interface StepResult {
  /** The new state; the given one is unchanged. */
  instance: InstanceState;
  /** New and changed tokens, including ended ones, which are no longer in `instance.tokens`. */
  changedTokens: TokenState[];
  events: EngineEvent[];
  jobs: EngineJob[];
  /**
   * Tokens whose TIMER, ACTION_DUE and WORKFLOW jobs and waits of earlier visits (all visits, if the token has ended) are void: cancel
   * them, then add `jobs` and `waits`. Other jobs stay.
   */
  cancelledTokens: number[];
  waits: MessageWait[];
  /** UI_ACTION: node of the token afterwards. */
  action: { tokenId: number; node: number; back: boolean } | null;
  /** Warnings that need no action, such as references to missing data. */
  warnings: string[];
}

/** Places where a step can fail (docs/process-semantics.md, section 11). */
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

/** Place where a step failed; the service records it after the rollback. */
export type IncidentSource = (typeof INCIDENT_SOURCES)[number];
export type IncidentType = (typeof INCIDENT_TYPES)[number];
