import { yieldEventLoop } from '../../support/yield-event-loop.js';
import { writePath } from '../../paths/data-keys.js';
import { parsePath } from '../../paths/data-paths.js';
import type { ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { extensionOf, type BpmnElement } from '../model/bpmn-element.js';
import { ActionReader } from './action.reader.js';
import { checkBoundaries } from '../checks/boundary.checks.js';
import { checkGateways } from '../checks/gateway.checks.js';
import { checkLevels, type CheckContext } from '../checks/level.checks.js';
import type { ProcessDraft } from '../draft/draft.js';
import { EventReader } from './event.reader.js';
import { readFlowConditions } from './flow-conditions.js';
import { buildGraph } from './graph.builder.js';
import { checkSchema } from './json-schema.check.js';
import { readLanes } from './lane.reader.js';
import { SvcUuids } from './svc-uuids.js';
import { Values } from '../draft/values.js';

/** Context of the file that contains a process. */
export interface CompileContext extends CheckContext {
  appId: string;
  /** Names of the processes of the file by their BPMN id. */
  names: ReadonlyMap<string, string>;
}

/** Checks and compiles a process. The graph is valid only if the file has no errors. */
export async function compileProcess(draft: ProcessDraft, context: CompileContext): Promise<ProcessGraph> {
  const { problems } = context;
  const events = new EventReader(problems);
  for (const node of draft.nodes) {
    node.event = events.read(node);
    await yieldEventLoop();
  }
  await readFlowConditions(draft, problems);
  if (!problems.isIncomplete) {
    checkLevels(draft, context);
    checkGateways(draft, context);
  }
  checkBoundaries(draft, problems);
  const lanes = readLanes(draft, problems);
  const uuids = new SvcUuids(context.appId, draft.key);
  const values = new Values(draft.element, problems);
  const readers = { problems, uuids, actions: new ActionReader(problems, uuids), names: context.names };
  return {
    format: 1,
    svcUuid: uuids.given(values) ?? uuids.ofProcess(),
    key: draft.key,
    name: context.names.get(draft.key) ?? draft.key,
    ...(await buildGraph(draft, readers, lanes)),
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

/** Each path adds a row per instance that steps may have to update. */
const MAX_SEARCHABLE = 8;
const MAX_LENGTH = 255;

/** Reads `svc:searchable`: the data by which instances can be found. Paths are normalized. */
function searchableOf(values: Values): Pick<ProcessGraph, 'searchable'> {
  const searchable = values.paths('searchable').map((path) => writePath(parsePath(path)));
  const twice = searchable.find((path, index) => searchable.indexOf(path) !== index);
  const unfit = searchable.find((path) => path.length > MAX_LENGTH || path.includes(':'));
  if (searchable.length > MAX_SEARCHABLE) {
    values.error(
      'INVALID_VALUE',
      `searchable can name at most ${MAX_SEARCHABLE} paths, not ${searchable.length}.`,
    );
  }
  if (twice !== undefined) {
    values.error('INVALID_VALUE', `searchable names ${twice.slice(0, MAX_LENGTH)} twice.`);
  }
  if (unfit !== undefined) {
    const message = `A path of searchable can have at most ${MAX_LENGTH} characters and no colon, which ends the path in a query.`;
    values.error('INVALID_VALUE', message);
  }
  return searchable.length === 0 ? {} : { searchable };
}
