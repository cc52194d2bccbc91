export { definitionLimits } from './definition.limits.js';
export {
  type ActionOperation,
  type CallTarget,
  type DefinitionProblem,
  type GraphFlow,
  type GraphLane,
  type GraphNode,
  type GraphUiAction,
  type ProcessGraph,
  type TimerDefinition,
  processGraphSchema,
} from './model/process-graph.types.js';
export { ProcessCompiler } from './process-compiler.js';
export { PROCESS_NAME_PATTERN } from './process-name.js';
export { SVC_EXTENSION } from './reader/svc-extension.js';
export { hostsOf, placeOf } from './reader/svc-places.js';
