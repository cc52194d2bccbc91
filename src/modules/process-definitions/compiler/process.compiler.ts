import { turnWithRoom } from '../../../common/turns.js';
import type { ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { extensionOf, type BpmnElement } from '../model/bpmn-element.js';
import { ActionReader } from './action.reader.js';
import { CallReader } from './call.reader.js';
import { checkBoundaries } from '../checks/boundary.checks.js';
import { checkGateways } from '../checks/gateway.checks.js';
import { checkLevels } from '../checks/level.checks.js';
import type { ProcessDraft } from '../draft/draft.js';
import { DraftBuilder, type ProcessLimits } from './draft.builder.js';
import { EventReader } from './event.reader.js';
import { readFlowConditions } from './flow-conditions.js';
import { GraphBuilder } from './graph.builder.js';
import { checkSchema } from './json-schema.check.js';
import { readLanes } from './lane.reader.js';
import { searchableOf } from './searchable.reader.js';
import { SvcUuids } from './svc-uuids.js';
import { Values } from '../draft/values.js';

/** What is known of the file around a process. */
export interface CompileContext {
  appId: string;
  limits: ProcessLimits;
  problems: DefinitionProblems;
  /** Names of the processes of the file by their BPMN id. */
  names: ReadonlyMap<string, string>;
  /** Whether every element of the file is executed: without those that are not, ways end where they should not. */
  complete: boolean;
  /** Given between parts, since a file may have many expressions. */
}

/** Finds and connects the nodes of one `bpmn:process`; undefined when it is too large to be looked at. */
export function draftProcess(process: BpmnElement, context: CompileContext): ProcessDraft | undefined {
  return new DraftBuilder(process, context.problems, context.limits).build();
}

/** Checks and compiles a process; the graph means something only when no errors were found in the file. */
export async function compileProcess(draft: ProcessDraft, context: CompileContext): Promise<ProcessGraph> {
  const { problems } = context;
  const events = new EventReader(problems);
  for (const node of draft.nodes) {
    node.event = events.read(node);
    await turnWithRoom();
  }
  await readFlowConditions(draft, problems);
  if (!problems.isTorn) {
    checkLevels(draft, context);
    checkGateways(draft, context);
  }
  checkBoundaries(draft, problems);
  const lanes = readLanes(draft, problems);
  const uuids = new SvcUuids(context.appId, draft.key);
  const values = new Values(draft.element, problems);
  const readers = {
    problems,
    uuids,
    actions: new ActionReader(problems, uuids),
    calls: new CallReader(problems, context.names),
  };
  return {
    format: 1,
    svcUuid: uuids.given(values) ?? uuids.ofProcess(),
    key: draft.key,
    name: context.names.get(draft.key) ?? draft.key,
    ...(await new GraphBuilder(draft, readers).build(lanes)),
    inputSchema: inputSchemaOf(draft.element, problems),
    expiresAfter: values.duration('expiresAfter'),
    ...searchableOf(values),
  };
}

function inputSchemaOf(process: BpmnElement, problems: DefinitionProblems): ProcessGraph['inputSchema'] {
  const element = extensionOf(process, 'svc:InputSchema');
  if (element === undefined) {
    return null;
  }
  const values = new Values(element, problems);
  const schema = values.json('body');
  checkSchema(schema, 'svc:inputSchema', values);
  return schema;
}
