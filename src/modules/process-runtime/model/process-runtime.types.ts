import type { EngineEventKind, IncidentType } from '../engine/state/engine.types.js';

/** What the audit trail of an instance tells of: what the engine did, and what became of what it could not do. */
export type ProcessEventKind = EngineEventKind | 'INCIDENT_RAISED' | 'INCIDENT_CLOSED';

/** A process of a build, as the path of the start endpoint names it. */
export interface ProcessKey {
  appId: string;
  buildId: string;
  processName: string;
}

/** A UI action on a token, as the path of the execute endpoint names it. */
export interface UiActionKey {
  processUuid: string;
  tokenUuid: string;
  uiActionSvcUuid: string;
}

/** Why a step that a caller asked for stopped, as the error body tells it. */
export interface StopReport {
  /** Of the incident; null when the instance has as many open ones as it may. */
  uuid: string | null;
  processInstanceUuid: string;
  /** `type` of the incident. */
  code: IncidentType;
  /** Where it stopped; null for the process as a whole. */
  bpmnElementId: string | null;
  message: string;
}

/** What the execute endpoint answers (docs/contract.md, section 4.2). */
export interface UiActionAnswer {
  tokenUuid: string;
  currentNodeId: number;
  templatesSequence: null;
  backAction: boolean;
  resetToken: boolean;
}
