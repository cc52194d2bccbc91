import { createHash } from 'node:crypto';
import { canonicalJson } from '../../platform/json/canonical-json.js';
import { errorFields } from '../../platform/observability/logging/error-fields.js';
import { UnreadableBodyError } from '../../platform/errors/request.errors.js';
import { asInfinite, parseExactly, isJsonObject, type JsonObject } from '#engine/json';
import { canonicalCertificates } from '../../platform/tls/certificates.js';
import { storedBytes } from '../../store/tables/column-values.js';
import type { ProcessGraph } from '#engine/definitions';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { withStamps, type DraftChange, type DraftWorkflow } from './drafts/draft-workflows.js';
import { editedDocument } from './drafts/node-edit.js';
import { packText, unpackBytes } from '../../platform/json/packed-text.js';
import { resourceId, workflowDefinitionId } from '../../platform/validation/resource-ids.js';
import type {
  CheckContext,
  CheckedProcessFile,
  DefinitionIds,
  PackageSystem,
  PackageWorkflow,
} from './model/package.types.js';
import { SequenceNotFoundError } from './model/packages.errors.js';
import { withDefinitionIds, type PackagesService } from './packages.service.js';
import type {
  CheckResult,
  CheckTask,
  EditTask,
  StorableGraph,
  StorablePackage,
  StorableProcessFile,
  StorableWorkflow,
  NamedNode,
  NumberTask,
  PackageJson,
  PackageTask,
  PackageTaskAnswer,
  PackageWork,
  ReadPackage,
} from './thread/package-task.types.js';

const NO_IDS: DefinitionIds = { systems: new Map(), workflows: new Map() };

/** Runs the tasks of the worker thread for packages. */
export class PackageTasks {
  constructor(private readonly packages: PackagesService) {}

  /** Never rejects, so that the calling thread can log unexpected errors. */
  async answer(task: PackageTask): Promise<PackageTaskAnswer> {
    try {
      return { result: await this.result(task) };
    } catch (error) {
      if (error instanceof SequenceNotFoundError) {
        return { noSequence: true };
      }
      return error instanceof UnreadableBodyError
        ? { refused: error.message }
        : { fault: errorFields(error) };
    }
  }

  private result(task: PackageTask): Promise<PackageWork[keyof PackageWork]['result']> {
    switch (task.task) {
      case 'read':
        return this.read(task);
      case 'edit':
        return this.edit(task);
      case 'number':
        return Promise.resolve(numbered(task));
      default:
        return this.check(task);
    }
  }

  private async edit({ packed, edit }: EditTask): Promise<Uint8Array> {
    const document = documentOf(await unpackBytes(packed));
    return bytesOf(JSON.stringify(editedDocument(document, edit)));
  }

  private async read({ json, appId }: PackageWork['read']['task']): Promise<ReadPackage> {
    const { package: pkg, problems, readable } = this.packages.parse(documentOf(json));
    if (pkg === null) {
      const others = await this.packages.checkParts(readable, appId);
      return { outline: null, problems: [...problems, ...others] };
    }
    const outline = {
      libraries: pkg.application.libraries,
      systems: pkg.systems.map(({ resourceName }) => ({ resourceName })),
      workflows: pkg.workflows.map(({ name }) => ({ name })),
    };
    return { outline, problems };
  }

  private async check({ json, context, build, draft }: CheckTask): Promise<CheckResult> {
    const document = documentOf(json);
    const { package: pkg, problems } = this.packages.parse(document);
    if (pkg === null) {
      return { storable: null, problems };
    }
    const { checked, problems: found } = await this.packages.check(pkg, context);
    if (checked === null) {
      return { storable: null, problems: found };
    }
    const { application, systems, processes, workflows } = checked;
    const storable: StorablePackage = {
      application,
      systems: systems.map(withCanonicalTls),
      processCount: processes.reduce((sum, { graphs }) => sum + graphs.length, 0),
      workflowCount: workflows.length,
      processes: build === null ? [] : processes.map(toStorableFile),
      workflows:
        build === null ? [] : workflows.map((workflow) => this.toStorableWorkflow(workflow, build, context)),
      drafts: draft && (await draftsOf(workflows, draft)),
      checksum: createHash('sha256').update(canonicalJson(document)).digest('hex'),
      packed: storedBytes(await packText(JSON.stringify(document))),
    };
    return { storable, problems: found };
  }

  private toStorableWorkflow(
    workflow: PackageWorkflow,
    version: AppVersionKey,
    { appId, definitionIds = NO_IDS }: CheckContext,
  ): StorableWorkflow {
    const { name } = workflow;
    const resourceDefinitionId = workflowDefinitionId(appId, name);
    const ids = { resourceId: resourceId(version, resourceDefinitionId), resourceDefinitionId };
    const identified = withDefinitionIds(workflow, appId, definitionIds);
    return { ...ids, name, definition: storedBytes(JSON.stringify({ ...identified, ...ids })) };
  }
}

/** Returns the buffers of an answer that are transferred to the calling thread instead of copied. */
export function buffersOf(answer: PackageTaskAnswer): ArrayBuffer[] {
  return ('result' in answer ? bytesIn(answer.result) : []).map(({ buffer }) => buffer as ArrayBuffer);
}

function bytesIn(result: PackageWork[keyof PackageWork]['result']): Uint8Array[] {
  if (result instanceof Uint8Array) {
    return [result];
  }
  const storable = 'storable' in result ? result.storable : null;
  if (storable === null) {
    return [];
  }
  const { packed, drafts, processes, workflows } = storable;
  return [
    packed,
    ...(drafts === null ? [] : [drafts]),
    ...processes.flatMap(({ bpmn, graphs }) => [bpmn, ...graphs.flatMap(({ nodes, json }) => [nodes, json])]),
    ...workflows.map(({ definition }) => definition),
  ];
}

/** @throws UnreadableBodyError */
function documentOf(json: PackageJson): JsonObject {
  const document = parsed(typeof json === 'string' ? json : new TextDecoder().decode(json));
  if (!isJsonObject(document)) {
    throw new UnreadableBodyError('Request body must be a JSON object.');
  }
  return document;
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text, asInfinite);
  } catch {
    throw new UnreadableBodyError('Request body is not valid JSON.');
  }
}

/** Returns a system with its certificates in canonical form, so that no parsing is needed within the transaction. */
function withCanonicalTls(system: PackageSystem): PackageSystem {
  const { tls } = system;
  return tls === undefined || tls === null
    ? system
    : { ...system, tls: { ...tls, caCertificates: canonicalCertificates(tls.caCertificates) } };
}

function toStorableFile({ file, bpmn, graphs }: CheckedProcessFile): StorableProcessFile {
  return { file, bpmn: storedBytes(bpmn), graphs: graphs.map(toStorableGraph) };
}

function toStorableGraph(graph: ProcessGraph): StorableGraph {
  const { name, svcUuid } = graph;
  const nodes = graph.nodes.map((node): NamedNode => ({ svcUuid: node.svcUuid, key: node.key }));
  return { name, svcUuid, nodes: bytesOf(JSON.stringify(nodes)), json: bytesOf(JSON.stringify(graph)) };
}

function numbered({ json, numbers }: NumberTask): Uint8Array {
  const graph = JSON.parse(new TextDecoder().decode(json)) as ProcessGraph;
  const nodes = graph.nodes.map((node, index) => ({ ...node, id: numbers[index] }));
  return storedBytes(JSON.stringify({ ...graph, nodes }));
}

/** Encodes text into a separate buffer that can be transferred to another thread; small buffers share memory. */
function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function draftsOf(
  workflows: readonly PackageWorkflow[],
  { before, ...change }: DraftChange,
): Promise<Uint8Array> {
  const stored =
    before === null ? [] : (JSON.parse((await unpackBytes(before)).toString()) as DraftWorkflow[]);
  return storedBytes(await packText(JSON.stringify(withStamps(workflows, stored, change))));
}
