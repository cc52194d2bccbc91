import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../platform/json/canonical-json.js';
import { jsonValue } from '../../../platform/json/json-part.js';
import type { YieldingWork } from '#engine/support';
import { nameKey } from '../../../platform/validation/resource-name.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import type { GraphFlow, GraphLane, GraphNode, ProcessGraph } from '#engine/definitions';
import { workflowText } from '../model/workflow-text.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import type { BuildToolFacts } from '../storage/build-contents.repository.js';
import type { BuildSystemEntity } from '../storage/build.entity.js';
import type { BuildDifferenceDto } from './build-differences.dto.js';
import { DifferenceChange, DifferencePart, type ComparedPart } from './build-differences.types.js';

const ORDER = Object.values(DifferencePart);
const AGENT = 'CUSTOM_AGENT';
/** Members of a node that only describe its position, its author or the time of a change. */
const IGNORED_MEMBERS = new Set([
  'id',
  'layoutOptions',
  'workflowResourceId',
  'createdDate',
  'modifiedDate',
  'createdBy',
  'modifiedBy',
]);

/**
 * Returns a process, with its elements as members, and the permissions that its lanes require.
 * @param json the ProcessGraph as stored in the build, in UTF-8
 */
export function* partsOfProcess(appId: string, json: Buffer): YieldingWork<ComparedPart[]> {
  const graph = (yield* jsonValue(json)) as ProcessGraph;
  const { name } = graph;
  const members = new Map<string, string>();
  for (const [member, value] of elementsOf(graph)) {
    members.set(member, hashOf(value));
    yield;
  }
  return [
    partOf(DifferencePart.Process, appId, name, { members }),
    ...graph.lanes.flatMap((lane) => permissionsOf(appId, name, lane)),
  ];
}

function* elementsOf(graph: ProcessGraph): Generator<[string, unknown]> {
  // Names with a space cannot clash with BPMN ids.
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
  return lane.execute.map((permission) =>
    partOf(DifferencePart.Permission, appId, permission, {
      within: `${process}/${lane.name ?? lane.key}`,
      key: JSON.stringify([process, lane.key, permission]),
    }),
  );
}

/** Replaces indexes by keys, since an added node shifts the indexes of unchanged ones. */
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
 * Returns a workflow, with its nodes as members, and its agents.
 * @param definition JSON as stored in the build, in UTF-8
 */
export function* partsOfWorkflow(appId: string, definition: Buffer): YieldingWork<ComparedPart[]> {
  const workflow = yield* workflowText(definition);
  const { name } = workflow;
  const members = new Map<string, string>();
  // Names with a space cannot clash with node ids.
  members.set('description', hashOf(workflow.read('description')));
  members.set('input schema', hashOf(workflow.read('inputSchema')));
  members.set('output schema', hashOf(workflow.read('outputSchema')));
  const parts = [partOf(DifferencePart.Workflow, appId, name, { members })];
  const nodes = yield* workflow.nodes();
  for (const node of nodes) {
    const { aiOptions, ...rest } = node;
    const compared = Object.entries(rest).filter(([member]) => !IGNORED_MEMBERS.has(member));
    members.set(node.id, hashOf({ ...Object.fromEntries(compared), aiOptions }));
    if (node.type === AGENT) {
      const key = JSON.stringify([name, node.id]);
      const agent = hashed([...compared, ...Object.entries(aiOptions ?? {})]);
      parts.push(partOf(DifferencePart.Agent, appId, node.name, { within: name, key, members: agent }));
    }
    yield;
  }
  return parts;
}

/** Returns systems and their tools. Systems are matched by resource name, ignoring case. */
export function* partsOfSystems(
  appId: string,
  systems: readonly BuildSystemEntity[],
  tools: readonly BuildToolFacts[],
): YieldingWork<ComparedPart[]> {
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
  const compared = { type, name, description, baseUrl, authorizationType, clientId, identityProviderUrl };
  const members = hashed(Object.entries(compared));
  return partOf(DifferencePart.System, appId, resourceName, { key: nameKey(resourceName), members });
}

function partOfTool(
  appId: string,
  system: string,
  { name, definitionHash, enabled }: BuildToolFacts,
): ComparedPart {
  const members = new Map([
    ['definition', definitionHash],
    ['enabled', String(enabled)],
  ]);
  const key = JSON.stringify([nameKey(system), name]);
  return partOf(DifferencePart.Tool, appId, name, { within: system, key, members, enabled });
}

export function partOfLibrary(appId: string, library: BuildLibraryDto): ComparedPart {
  return partOf(DifferencePart.Library, appId, library.appId, {
    members: hashed([['build', library.buildId]]),
  });
}

/** Returns the front-end settings of a build. */
export function partOfSettings(appId: string, settings: PackageSettings): ComparedPart {
  return partOf(DifferencePart.Settings, appId, 'settings', { members: hashed(Object.entries(settings)) });
}

/** Creates a part whose key is its name unless `rest` sets another one. */
function partOf(
  part: DifferencePart,
  appId: string,
  name: string,
  rest: Partial<ComparedPart>,
): ComparedPart {
  return { part, appId, within: null, name, key: name, members: new Map(), enabled: null, ...rest };
}

function hashed(members: readonly (readonly [string, unknown])[]): Map<string, string> {
  return new Map(members.map(([name, value]) => [name, hashOf(value)]));
}

/** Returns the hash of a value. Two builds are in memory at once and can have many megabytes, so only hashes are kept. */
function hashOf(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return createHash('sha256').update(text).digest('base64');
}

/**
 * Returns the differences of a build from the one before.
 * @returns by kind, in the order of `DifferencePart`, then by application, place and name
 */
export function* differencesOf(
  before: readonly ComparedPart[],
  now: readonly ComparedPart[],
): YieldingWork<BuildDifferenceDto[]> {
  const left = new Map<string, ComparedPart>();
  for (const part of before) {
    left.set(identityOf(part), part);
    yield;
  }
  const found: BuildDifferenceDto[] = [];
  for (const part of now) {
    const identity = identityOf(part);
    const other = left.get(identity);
    left.delete(identity);
    const members = other === undefined ? [] : changedMembers(other, part);
    if (other === undefined) {
      found.push(differenceOf(part, DifferenceChange.Added));
    } else if (members.length > 0) {
      found.push({ ...differenceOf(part, DifferenceChange.Changed), members });
    }
    yield;
  }
  for (const part of left.values()) {
    found.push({ ...differenceOf(part, DifferenceChange.Removed), enabled: null });
  }
  return found.toSorted(byPlace);
}

function identityOf({ part, appId, key }: ComparedPart): string {
  return `${part} ${appId} ${key}`;
}

function differenceOf(
  { part, appId, within, name, enabled }: ComparedPart,
  change: DifferenceChange,
): BuildDifferenceDto {
  return { part, change, applicationId: appId, within, name, members: [], enabled };
}

function changedMembers(before: ComparedPart, now: ComparedPart): string[] {
  const names = new Set([...now.members.keys(), ...before.members.keys()]);
  return [...names].filter((name) => before.members.get(name) !== now.members.get(name));
}

function byPlace(one: BuildDifferenceDto, other: BuildDifferenceDto): number {
  return (
    ORDER.indexOf(one.part) - ORDER.indexOf(other.part) ||
    compared(one.applicationId, other.applicationId) ||
    compared(one.within ?? '', other.within ?? '') ||
    compared(one.name, other.name)
  );
}

function compared(one: string, other: string): number {
  if (one === other) {
    return 0;
  }
  return one < other ? -1 : 1;
}
