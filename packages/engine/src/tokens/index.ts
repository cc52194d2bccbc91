export { isRunning } from './flow/stuck-joins.js';
export { nameOf } from './flow/token-flow.js';
export { cycleOccurrence } from './state/due-times.js';
export { EngineIncident, EngineRefusal } from './state/engine.errors.js';
export {
  ENGINE_EVENT_KINDS,
  type EngineCommand,
  type EngineEvent,
  type EngineEventKind,
  type EngineJob,
  type ExecutedCall,
  INCIDENT_SOURCES,
  INCIDENT_TYPES,
  INSTANCE_STATES,
  type IncidentSource,
  type IncidentType,
  type InstanceState,
  type InstanceStatus,
  type InstanceWork,
  type JoinState,
  type MessageWait,
  NODE_STATES,
  type NodeStatus,
  type StepContext,
  type StepResult,
  TOKEN_STATES,
  type TokenState,
  type TokenStatus,
} from './state/engine.types.js';
export { patchedMembers } from './state/process-data.js';
export { RuntimeDefinition, type UiActionPlace } from './state/runtime-definition.js';
export { newContent, newInstance } from './state/tokens.js';
export { step } from './step.js';
export { effectOf, openUiActions } from './ui-actions/ui-actions.js';
