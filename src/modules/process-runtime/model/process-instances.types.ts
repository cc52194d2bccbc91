import type { JsonObject } from '../../../common/json.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type {
  IncidentSource,
  IncidentType,
  InstanceStatus,
  TokenStatus,
} from '../engine/state/engine.types.js';
import type { OpenUiAction } from '../engine/ui-actions/open-actions.js';
import type { ProcessEventKind, TokenView } from './process-runtime.types.js';

/** A node of a process as callers see it; all null where there is none. */
export interface NodeView {
  nodeId: number | null;
  nodeName: string | null;
  /** Id of the element in the BPMN file. */
  bpmnElementId: string | null;
}

/** What a list shows of an instance. */
export interface InstanceSummaryView {
  uuid: string;
  state: InstanceStatus;
  processDefinitionName: string;
  processDefinitionSvcUuid: string;
  buildId: string;
  buildStatusAtStart: string;
  applicationId: string;
  parentApplicationId: string | null;
  rootApplicationId: string;
  parentProcessInstanceUuid: string | null;
  platform: string | null;
  startedBy: UserReference | null;
  startedAt: string;
  dateUpdated: string;
  endedAt: string | null;
  expiresAt: string | null;
  openIncidents: number;
  instanceMetadata: { processInstanceId: number; processInstanceUuid: string };
}

/** A UI action that the caller can execute now. */
export interface UiActionView extends OpenUiAction {
  /** JSON Schema of the body; null for any object. */
  bodySchema: JsonObject | null;
}

/** A token, where it stands and what the caller can do there. */
export interface InstanceTokenView extends TokenView {
  bpmnElementId: string | null;
  parentTokenUuid: string | null;
  lane: string | null;
  uiActions: UiActionView[];
}

/** A process that an instance started. */
export interface ChildView {
  uuid: string;
  state: InstanceStatus;
  processDefinitionName: string;
  /** Place among the calls of one visit of the node, from 0. */
  index: number;
}

/** Why a process stopped. */
export interface IncidentView extends NodeView {
  uuid: string;
  source: IncidentSource;
  type: IncidentType;
  message: string;
  tokenUuid: string | null;
  actionSvcUuid: string | null;
  /** The called process whose end stopped it. */
  childProcessInstanceUuid: string | null;
  requestId: string | null;
  timestamp: string;
}

/** One line of the audit trail. */
export interface HistoryEventView extends NodeView {
  seq: number;
  kind: ProcessEventKind;
  timestamp: string;
  actor: string | null;
  requestId: string | null;
  tokenUuid: string | null;
  data: JsonObject | null;
}

/** Everything of one instance that a page about it shows. */
export interface InstanceView extends InstanceSummaryView {
  tokens: InstanceTokenView[];
  data: JsonObject;
  incidents: IncidentView[];
  children: ChildView[];
  history: HistoryEventView[];
  historyNext: number | null;
}

/** Which instances to list. */
export interface InstanceQuery {
  applicationId?: string;
  processDefinitionName?: string;
  state?: InstanceStatus;
  parentProcessInstanceUuid?: string;
  startedFrom?: Date;
  startedTo?: Date;
  /** `next` of the page before. */
  before?: string;
  limit?: number;
}

/** A page of instances, newest first. */
export interface InstancePage {
  instances: InstanceSummaryView[];
  next: string | null;
}

/** Which part of an audit trail to read: before a number and newest first, or after one and oldest first. */
export interface HistoryQuery {
  before?: number;
  after?: number;
  limit?: number;
}

/** A part of an audit trail; `next` goes on in the same direction. */
export interface HistoryPage {
  events: HistoryEventView[];
  next: number | null;
}

/** Where a token stands in the BPMN file. */
export interface PositionView {
  nodeId: number;
  bpmnElementId: string | null;
  tokenUuid: string;
  state: TokenStatus;
}

/** The BPMN file of an instance, and where its tokens stand. */
export interface DiagramView {
  bpmn: string;
  positions: PositionView[];
}
