import type { JsonObject } from '#engine/json';
import type { GraphNode } from '#engine/definitions';
import { shortened, type PackageProblems } from '../model/package-problems.js';
import type { ApplicationPackage } from '../model/package.types.js';

/** Code of the warning of a boundary event that can never fire. */
export const NEVER_FIRES = 'BOUNDARY_NEVER_FIRES';

/** Codes of technical failures, as docs/bpmn.md and docs/agents.md list them. */
export const TECHNICAL_CODES: readonly string[] = [
  'CHILD_TERMINATED',
  'CHILD_EXPIRED',
  'CHILD_ABORTED',
  'CHILD_DISMISSED',
  'CHILD_NOT_STARTED',
  'AGENT_NOT_CONFIGURED',
  'AGENT_NO_TOOLS',
  'AGENT_TOO_MANY_TOOLS',
  'AGENT_ITERATION_LIMIT',
  'AGENT_TOKEN_LIMIT',
  'AGENT_TOKEN_QUOTA',
  'AGENT_DEADLINE',
  'AGENT_ANSWER_INVALID',
  'AGENT_MODEL_FAILED',
  'REST_SYSTEM_MISSING',
  'REST_CALL_FAILED',
  'REST_STATUS',
  'REST_RESPONSE_INVALID',
  'CALL_OUTCOME_UNKNOWN',
  'WORKFLOW_NODE_LIMIT',
  'WORKFLOW_DATA_LIMIT',
  'WORKFLOW_DEPTH_LIMIT',
  'WORKFLOW_DEADLINE',
  'WORKFLOW_NOT_FOUND',
  'WORKFLOW_INVALID',
  'WORKFLOW_INPUT_INVALID',
  'WORKFLOW_OUTPUT_INVALID',
  'SUBWORKFLOW_NOT_FOUND',
  'SUBWORKFLOW_FAILED',
  'CONDITION_FAILED',
  'NODE_TYPE_NOT_SUPPORTED',
  'NODE_INPUT_INVALID',
  'NODE_RESULT_INVALID',
  'NODE_NOT_FOUND',
  'NODE_LEADS_NOWHERE',
];

/** The parts of a package that throw or catch errors. */
interface ErrorPlaces {
  nodes: readonly { node: GraphNode; file: string }[];
  workflows: ApplicationPackage['workflows'];
  /** Boundary events already reported as never firing, as JSON of file and element. */
  idle: ReadonlySet<string>;
}

/**
 * Warns about boundary events whose error code nothing throws, which is most likely mistyped (docs/bpmn.md, `BOUNDARY_NEVER_FIRES`). Only
 * for packages without libraries.
 */
export function checkErrorCodes({ nodes, workflows, idle }: ErrorPlaces, problems: PackageProblems): void {
  const known = new Set([
    ...nodes.flatMap(({ node }) => (node.kind === 'END_EVENT' ? errorCodeOf(node) : [])),
    ...workflows.flatMap((workflow) => workflow.nodes.flatMap(({ payload }) => thrownBy(payload))),
    ...TECHNICAL_CODES,
  ]);
  const catching = nodes.filter(
    ({ node, file }) => node.kind === 'BOUNDARY_EVENT' && !idle.has(JSON.stringify([file, node.key])),
  );
  for (const { node, file } of catching) {
    for (const code of errorCodeOf(node).filter((one) => !known.has(one))) {
      const hint = problems.didYouMean(code, () => [...known]);
      const message = `"${node.key}" can never fire: no error end event and no workflow of this package throws "${shortened(code)}".${hint}`;
      problems.warning(NEVER_FIRES, { file, element: node.key }, message);
    }
  }
}

function errorCodeOf({ event }: GraphNode): string[] {
  return event?.type === 'ERROR' && event.code !== null ? [event.code] : [];
}

/** Returns the code of the BPMN error that an END throws. */
function thrownBy(payload: JsonObject | null): string[] {
  const code = payload?.['errorCode'];
  return typeof code === 'string' ? [code] : [];
}
