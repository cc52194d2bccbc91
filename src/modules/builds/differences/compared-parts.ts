import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../common/canonical-json.js';
import { jsonValue } from '../../../common/json-part.js';
import type { Steps } from '../../../common/turns.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import type {
  GraphFlow,
  GraphLane,
  GraphNode,
  ProcessGraph,
} from '../../process-definitions/model/process-graph.types.js';
import { workflowText } from '../model/workflow-text.js';
import type { BuildLibrary } from '../model/builds.types.js';
import type { BuildToolFacts } from '../storage/build-contents.repository.js';
import type { BuildSystemEntity } from '../storage/build.entity.js';
import { DifferencePart, type ComparedPart } from './build-differences.types.js';

const AGENT = 'CUSTOM_AGENT';
/** Members of a node that say where it stands, and by whom and when it was written. */
const PLACE_OF_NODE = new Set([
  'id',
  'layoutOptions',
  'workflowResourceId',
  'createdDate',
  'modifiedDate',
  'createdBy',
  'modifiedBy',
]);

/**
 * A process, with its elements as members, and the permissions that its lanes ask for.
 * @param json of its ProcessGraph in UTF-8, as builds hold it
 */
export function* partsOfProcess(appId: string, json: Buffer): Steps<ComparedPart[]> {
  const graph = (yield* jsonValue(json)) as ProcessGraph;
  const { name } = graph;
  const members = new Map<string, string>();
  for (const [member, value] of elementsOf(graph)) {
    members.set(member, hashOf(value));
    yield;
  }
  return [
    { part: DifferencePart.Process, appId, within: null, name, key: name, members, enabled: null },
    ...graph.lanes.flatMap((lane) => permissionsOf(appId, name, lane)),
  ];
}

function* elementsOf(graph: ProcessGraph): Generator<[string, unknown]> {
  // No BPMN id has a blank.
  yield ['input schema', graph.inputSchema];
  yield ['expiry', graph.expiresAfter];
  if (graph.searchable) {
    yield ['searchable data', graph.searchable];
  }
  for (const lane of graph.lanes) {
    yield [lane.key, lane];
  }
  for (const node of graph.nodes) {
    yield [node.key, withoutIndexes(graph, node)];
  }
  for (const flow of graph.flows) {
    yield [flow.key, betweenKeys(graph, flow)];
  }
}

function permissionsOf(appId: string, process: string, lane: GraphLane): ComparedPart[] {
  return lane.execute.map((permission) => ({
    part: DifferencePart.Permission,
    appId,
    within: `${process}/${lane.name ?? lane.key}`,
    name: permission,
    key: JSON.stringify([process, lane.key, permission]),
    members: new Map(),
    enabled: null,
  }));
}

/** A node that is added moves the indexes of others, which change nothing else by that. */
function withoutIndexes(graph: ProcessGraph, node: GraphNode): object {
  const { index: _index, id: _id, incoming: _incoming, outgoing: _outgoing, ...rest } = node;
  const nodeKey = (index: number | null): string | undefined => graph.nodes[index ?? -1]?.key;
  return {
    ...rest,
    scope: nodeKey(node.scope) ?? null,
    lane: graph.lanes[node.lane ?? -1]?.key ?? null,
    defaultFlow: graph.flows[node.defaultFlow ?? -1]?.key ?? null,
    starts: node.starts.map((start) => nodeKey(start) ?? null),
    boundaries: node.boundaries.map((boundary) => nodeKey(boundary) ?? null),
    attachedTo: nodeKey(node.attachedTo) ?? null,
  };
}

function betweenKeys({ nodes }: ProcessGraph, { source, target, condition }: GraphFlow): object {
  return { source: nodes[source]?.key ?? null, target: nodes[target]?.key ?? null, condition };
}

/**
 * A workflow, with its nodes as members, and its agents.
 * @param definition its JSON in UTF-8, as builds hold it
 */
export function* partsOfWorkflow(appId: string, definition: Buffer): Steps<ComparedPart[]> {
  const workflow = yield* workflowText(definition);
  const { name } = workflow;
  const members = new Map<string, string>();
  // No id of a node has a blank.
  members.set('description', hashOf(workflow.read('description')));
  members.set('input schema', hashOf(workflow.read('inputSchema')));
  members.set('output schema', hashOf(workflow.read('outputSchema')));
  const parts: ComparedPart[] = [
    { part: DifferencePart.Workflow, appId, within: null, name, key: name, members, enabled: null },
  ];
  const nodes = yield* workflow.nodes();
  for (const node of nodes) {
    const { aiOptions, ...rest } = node;
    const told = Object.entries(rest).filter(([member]) => !PLACE_OF_NODE.has(member));
    members.set(node.id, hashOf({ ...Object.fromEntries(told), aiOptions }));
    if (node.type === AGENT) {
      parts.push({
        part: DifferencePart.Agent,
        appId,
        within: name,
        name: node.name,
        key: JSON.stringify([name, node.id]),
        members: hashed([...told, ...Object.entries(aiOptions ?? {})]),
        enabled: null,
      });
    }
    yield;
  }
  return parts;
}

/** Systems and their tools. A system is the same by its resource name, without regard to case. */
export function* partsOfSystems(
  appId: string,
  systems: readonly BuildSystemEntity[],
  tools: readonly BuildToolFacts[],
): Steps<ComparedPart[]> {
  const parts: ComparedPart[] = [];
  const names = new Map<string, string>();
  for (const system of systems) {
    names.set(system.systemId, system.resourceName);
    parts.push(partOfSystem(appId, system));
    yield;
  }
  for (const tool of tools) {
    const name = names.get(tool.systemId);
    if (name !== undefined) {
      parts.push(partOfTool(appId, name, tool));
    }
    yield;
  }
  return parts;
}

function partOfSystem(appId: string, system: BuildSystemEntity): ComparedPart {
  const { resourceName, type, name, description, baseUrl } = system;
  const { authorizationType, clientId, identityProviderUrl } = system;
  const told = { type, name, description, baseUrl, authorizationType, clientId, identityProviderUrl };
  return {
    part: DifferencePart.System,
    appId,
    within: null,
    name: resourceName,
    key: nameKey(resourceName),
    members: hashed(Object.entries(told)),
    enabled: null,
  };
}

function partOfTool(
  appId: string,
  system: string,
  { name, definitionHash, enabled }: BuildToolFacts,
): ComparedPart {
  return {
    part: DifferencePart.Tool,
    appId,
    within: system,
    name,
    key: JSON.stringify([nameKey(system), name]),
    members: new Map([
      ['definition', definitionHash],
      ['enabled', String(enabled)],
    ]),
    enabled,
  };
}

/** A library of a build. */
export function partOfLibrary(appId: string, library: BuildLibrary): ComparedPart {
  return {
    part: DifferencePart.Library,
    appId,
    within: null,
    name: library.appId,
    key: library.appId,
    members: hashed([['build', library.buildId]]),
    enabled: null,
  };
}

/** What front ends are told of a build. */
export function partOfSettings(appId: string, settings: PackageSettings): ComparedPart {
  const members = hashed(Object.entries(settings));
  const part = DifferencePart.Settings;
  return { part, appId, within: null, name: 'settings', key: '', members, enabled: null };
}

function hashed(members: readonly (readonly [string, unknown])[]): Map<string, string> {
  return new Map(members.map(([name, value]) => [name, hashOf(value)]));
}

/** Two builds are held beside each other, and each can have many megabytes: so hashes of them are. */
function hashOf(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return createHash('sha256').update(text).digest('base64');
}
