import { In, type EntityManager } from 'typeorm';
import {
  type RawRow,
  textBytes,
  textExpression,
  textPlace,
  textValue,
} from '../../../store/tables/column-values.js';
import { prepared } from '../../../store/connection/prepared-statements.js';
import { Table } from '../../../store/tables/table.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { BuildLibraryDto, BuildResourceDto } from '../model/package.dto.js';
import {
  BuildDefinitionEntity,
  BuildLibraryEntity,
  BuildSystemEntity,
  BuildToolEntity,
  BuildWorkflowEntity,
} from './build.entity.js';

const SYSTEM_COLUMNS = `resource_definition_id, resource_id, type, resource_name, name, description, base_url,
  authorization_type, client_id, identity_provider_url`;
const TOOL_COLUMNS = `system_id, name, title, description, input_schema, output_schema, annotations, definition_hash,
  enabled, position`;

// Copied within the database, since a system can have thousands of tools with large schemas. Secrets are not copied.
const COPY_SYSTEMS = `
  INSERT INTO build_systems (build_id, system_id, ${SYSTEM_COLUMNS})
  SELECT ?, id, ${SYSTEM_COLUMNS} FROM systems WHERE app_id = ? AND app_version_id = ?`;
const COPY_TOOLS = `
  INSERT INTO build_tools (build_id, tool_id, ${TOOL_COLUMNS})
  SELECT ?, id, ${TOOL_COLUMNS} FROM tools
  WHERE present = 1 AND system_id IN (SELECT system_id FROM build_systems WHERE build_id = ?)`;

const DEFINITION_COLUMNS = 'id, build_id, name, svc_uuid, resource_id, file, graph, bpmn';
const WORKFLOW_COLUMNS = 'build_id, name, resource_id, resource_definition_id, definition';

const DEFINITIONS = new Table(BuildDefinitionEntity);
const BPMN = DEFINITIONS.select('bpmn');
const PROCESSES = DEFINITIONS.select('name', 'resourceId', 'svcUuid');
const WORKFLOW_IDS = new Table(BuildWorkflowEntity).select('name', 'resourceId', 'resourceDefinitionId');
const LIBRARIES = new Table(BuildLibraryEntity);
const LIBRARY = LIBRARIES.selectAllBut();
const SYSTEMS = new Table(BuildSystemEntity).selectAllBut();
const TOOLS = new Table(BuildToolEntity);
const WHOLE_TOOLS = TOOLS.selectAllBut();
const TOOL_FACTS = TOOLS.select('toolId', 'systemId', 'name', 'definitionHash', 'enabled');
/** Closest level first, within a level the newest build. */
const CLOSEST_FIRST = { order: { level: 'ASC', libraryBuildId: 'DESC' } } as const;
const BY_NAME = { order: { name: 'ASC' } } as const;

/** A process definition to store, with texts in the form that `storedBytes` returns. */
export type NewDefinition = Omit<BuildDefinitionEntity, 'graph' | 'bpmn'> &
  Readonly<Record<'graph' | 'bpmn', Uint8Array>>;

/** A workflow to store, with its text in the form that `storedBytes` returns. */
export type NewWorkflow = Omit<BuildWorkflowEntity, 'definition'> & { definition: Uint8Array };

/** A workflow with an agent, as JSON in UTF-8. */
export type WorkflowBytes = Pick<BuildWorkflowEntity, 'buildId' | 'name'> & { definition: Buffer };

/** What identifies the state of a tool. */
export type BuildToolFacts = Pick<
  BuildToolEntity,
  'toolId' | 'systemId' | 'name' | 'definitionHash' | 'enabled'
>;

function selectWorkflows(manager: EntityManager): string {
  const definition = textExpression(manager, 'definition');
  return `SELECT build_id AS buildId, name, ${definition} AS definition FROM build_workflows WHERE`;
}

function toWorkflow({ buildId, name, definition }: RawRow): WorkflowBytes {
  return { buildId: buildId as string, name: name as string, definition: textBytes(definition) };
}

/** Contents of builds. They cannot be changed or removed. */
export const BuildContents = {
  /** Copies the current systems of a version and the tools that they list. */
  async copySystems(
    manager: EntityManager,
    buildId: string,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<void> {
    await manager.query(COPY_SYSTEMS, [buildId, appId, appVersionId]);
    await manager.query(COPY_TOOLS, [buildId, buildId]);
  },

  async insertDefinition(manager: EntityManager, definition: NewDefinition): Promise<void> {
    const { id, buildId, name, svcUuid, resourceId, file, graph, bpmn } = definition;
    const text = textPlace(manager);
    await manager.query(
      prepared(
        `INSERT INTO build_definitions (${DEFINITION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ${text}, ${text})`,
      ),
      [id, buildId, name, svcUuid, resourceId, file, textValue(manager, graph), textValue(manager, bpmn)],
    );
  },

  async insertWorkflow(manager: EntityManager, workflow: NewWorkflow): Promise<void> {
    const { buildId, name, resourceId, resourceDefinitionId, definition } = workflow;
    await manager.query(
      prepared(
        `INSERT INTO build_workflows (${WORKFLOW_COLUMNS}) VALUES (?, ?, ?, ?, ${textPlace(manager)})`,
      ),
      [buildId, name, resourceId, resourceDefinitionId, textValue(manager, definition)],
    );
  },

  async insertLibraries(
    manager: EntityManager,
    buildId: string,
    libraries: BuildLibraryDto[],
  ): Promise<void> {
    await LIBRARIES.insert(
      manager,
      libraries.map((library) => ({
        buildId,
        libraryAppId: library.appId,
        libraryBuildId: library.buildId,
        level: library.level,
      })),
    );
  },

  /** Returns the libraries of a build, closest level first, within a level the newest build first. */
  async libraries(manager: EntityManager, buildId: string): Promise<BuildLibraryDto[]> {
    const rows = await LIBRARY.find(manager, { buildId }, CLOSEST_FIRST);
    return rows.map(({ libraryAppId, libraryBuildId, level }) => ({
      appId: libraryAppId,
      buildId: libraryBuildId,
      level,
    }));
  },

  /** Returns the systems of a build, by resource name. */
  async systems(manager: EntityManager, buildId: string): Promise<BuildSystemEntity[]> {
    return byName(await SYSTEMS.find(manager, { buildId }), ({ resourceName }) => resourceName);
  },

  /** Returns the tools of a build without their definitions, by id. */
  async toolFacts(manager: EntityManager, buildId: string): Promise<BuildToolFacts[]> {
    return TOOL_FACTS.find(manager, { buildId }, { order: { toolId: 'ASC' } });
  },

  /** Returns the tools of a system of a build, in the order in which its server listed them. */
  async tools(manager: EntityManager, buildId: string, systemId: string): Promise<BuildToolEntity[]> {
    const rows = await WHOLE_TOOLS.find(manager, { buildId, systemId });
    return rows.toSorted((one, other) => one.position - other.position);
  },

  /** Returns a workflow of a build as JSON in UTF-8, or null when there is none of this name. */
  async workflow(manager: EntityManager, buildId: string, name: string): Promise<Buffer | null> {
    const [row] = await manager.query<RawRow[]>(
      prepared(`${selectWorkflows(manager)} build_id = ? AND name = ?`),
      [buildId, name],
    );
    // MySQL and MariaDB ignore trailing spaces when they compare names.
    return row?.['name'] === name ? toWorkflow(row).definition : null;
  },

  /** Returns the workflows of builds that mention an agent, by name. */
  async agentWorkflows(manager: EntityManager, buildIds: readonly string[]): Promise<WorkflowBytes[]> {
    if (buildIds.length === 0) {
      return [];
    }
    const rows = await manager.query<RawRow[]>(
      `${selectWorkflows(manager)} build_id IN (${buildIds.map(() => '?').join(', ')}) AND definition LIKE '%CUSTOM_AGENT%'`,
      [...buildIds],
    );
    return byName(rows.map(toWorkflow), ({ name }) => name);
  },

  /** Returns the libraries of builds, closest level first, each with the build that uses it. */
  async librariesOf(manager: EntityManager, buildIds: readonly string[]): Promise<BuildLibraryEntity[]> {
    return LIBRARY.find(manager, { buildId: In([...buildIds]) }, CLOSEST_FIRST);
  },

  /** Returns the builds that use one of the given builds as a library. */
  async usersOf(manager: EntityManager, appId: string, buildIds: readonly string[]): Promise<string[]> {
    const where = { libraryAppId: appId, libraryBuildId: In([...buildIds]) };
    return (await LIBRARY.find(manager, where)).map(({ buildId }) => buildId);
  },

  /** Returns an existing process definition of a build, with all its texts. */
  async definition(manager: EntityManager, id: number): Promise<BuildDefinitionEntity> {
    return manager.findOneByOrFail(BuildDefinitionEntity, { id });
  },

  /** Returns the BPMN file of a process of a build, or null when there is none of this name. */
  async bpmn(manager: EntityManager, buildId: string, name: string): Promise<string | null> {
    return (await BPMN.first(manager, { buildId, name }))?.bpmn ?? null;
  },

  /** Returns processes, workflows and systems of a build, each kind by name. */
  async resources(manager: EntityManager, buildId: string): Promise<BuildResourceDto[]> {
    const processes = await PROCESSES.find(manager, { buildId }, BY_NAME);
    const workflows = await BuildContents.workflowIds(manager, buildId);
    const systems = await BuildContents.systems(manager, buildId);
    return [
      ...processes.map(({ name, resourceId, svcUuid }) => ({
        resourceType: 'PROCESS' as const,
        name,
        resourceId,
        resourceDefinitionId: svcUuid,
      })),
      ...workflows.map((workflow) => ({ resourceType: 'WORKFLOW' as const, ...workflow })),
      ...systems.map(({ type, resourceName, resourceId, resourceDefinitionId }) => ({
        resourceType: type,
        name: resourceName,
        resourceId,
        resourceDefinitionId,
      })),
    ];
  },

  /** Returns names and ids of the workflows of a build, by name. */
  async workflowIds(
    manager: EntityManager,
    buildId: string,
  ): Promise<Pick<BuildWorkflowEntity, 'name' | 'resourceId' | 'resourceDefinitionId'>[]> {
    return WORKFLOW_IDS.find(manager, { buildId }, BY_NAME);
  },
};

function byName<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Row[] {
  return rows.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}
