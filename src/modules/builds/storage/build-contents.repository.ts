import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import {
  type RawRow,
  textBytes,
  textExpression,
  textPlace,
  textValue,
} from '../../../database/column-values.js';
import { prepared } from '../../../database/prepared-statements.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { BuildLibrary, BuildResource } from '../model/builds.types.js';
import { BuildDefinitionEntity } from './build-definition.entity.js';
import { BuildLibraryEntity } from './build-library.entity.js';
import { BuildSystemEntity } from './build-system.entity.js';
import { BuildToolEntity } from './build-tool.entity.js';
import { BuildWorkflowEntity } from './build-workflow.entity.js';

const SYSTEM_COLUMNS = `resource_definition_id, resource_id, type, resource_name, name, description, base_url,
  authorization_type, client_id, identity_provider_url`;
const TOOL_COLUMNS = `system_id, name, title, description, input_schema, output_schema, annotations, definition_hash,
  enabled, position`;

// Copied inside of the database: a system can have thousands of tools with large schemas. The secret is no part of it.
const COPY_SYSTEMS = `
  INSERT INTO build_systems (build_id, system_id, ${SYSTEM_COLUMNS})
  SELECT ?, id, ${SYSTEM_COLUMNS} FROM systems WHERE app_id = ? AND app_version_id = ?`;
const COPY_TOOLS = `
  INSERT INTO build_tools (build_id, tool_id, ${TOOL_COLUMNS})
  SELECT ?, id, ${TOOL_COLUMNS} FROM tools
  WHERE present = 1 AND system_id IN (SELECT system_id FROM build_systems WHERE build_id = ?)`;

const DEFINITION_COLUMNS = 'id, build_id, name, svc_uuid, resource_id, file, graph, bpmn';
const WORKFLOW_COLUMNS = 'build_id, name, resource_id, resource_definition_id, definition';

/** A process definition to store; its texts are as `storedBytes` makes them. */
export type NewDefinition = Omit<BuildDefinitionEntity, 'graph' | 'bpmn'> &
  Readonly<Record<'graph' | 'bpmn', Uint8Array>>;

/** A workflow to store; its text is as `storedBytes` makes it. */
export type NewWorkflow = Omit<BuildWorkflowEntity, 'definition'> & { definition: Uint8Array };

/** A workflow with an agent, its JSON in UTF-8. */
export type WorkflowBytes = Pick<BuildWorkflowEntity, 'buildId' | 'name'> & { definition: Buffer };

const TOOL_FACTS = { toolId: true, systemId: true, name: true, definitionHash: true, enabled: true } as const;

/** What identifies the state of a tool. */
export type BuildToolFacts = Pick<BuildToolEntity, keyof typeof TOOL_FACTS>;

function selectWorkflows(manager: EntityManager): string {
  const definition = textExpression(manager, 'definition');
  return `SELECT build_id AS buildId, name, ${definition} AS definition FROM build_workflows WHERE`;
}

function toWorkflow({ buildId, name, definition }: RawRow): WorkflowBytes {
  return { buildId: buildId as string, name: name as string, definition: textBytes(definition) };
}

/** What builds hold. There is no way to change or remove any of it. */
@Injectable()
export class BuildContentsRepository {
  /** Copies the systems of a version as they are, and the tools that they list. */
  async copySystems(
    manager: EntityManager,
    buildId: string,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<void> {
    await manager.query(COPY_SYSTEMS, [buildId, appId, appVersionId]);
    await manager.query(COPY_TOOLS, [buildId, buildId]);
  }

  async insertDefinition(manager: EntityManager, definition: NewDefinition): Promise<void> {
    const { id, buildId, name, svcUuid, resourceId, file, graph, bpmn } = definition;
    const text = textPlace(manager);
    await manager.query(
      prepared(
        `INSERT INTO build_definitions (${DEFINITION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ${text}, ${text})`,
      ),
      [id, buildId, name, svcUuid, resourceId, file, textValue(manager, graph), textValue(manager, bpmn)],
    );
  }

  async insertWorkflow(manager: EntityManager, workflow: NewWorkflow): Promise<void> {
    const { buildId, name, resourceId, resourceDefinitionId, definition } = workflow;
    await manager.query(
      prepared(
        `INSERT INTO build_workflows (${WORKFLOW_COLUMNS}) VALUES (?, ?, ?, ?, ${textPlace(manager)})`,
      ),
      [buildId, name, resourceId, resourceDefinitionId, textValue(manager, definition)],
    );
  }

  async insertLibraries(manager: EntityManager, buildId: string, libraries: BuildLibrary[]): Promise<void> {
    const rows = libraries.map((library) => ({
      buildId,
      libraryAppId: library.appId,
      libraryBuildId: library.buildId,
      level: library.level,
    }));
    if (rows.length > 0) {
      await manager.insert(BuildLibraryEntity, rows);
    }
  }

  /** The libraries of a build, the closest level first, on one level the newest build first. */
  async libraries(manager: EntityManager, buildId: string): Promise<BuildLibrary[]> {
    const rows = await manager.find(BuildLibraryEntity, {
      where: { buildId },
      order: { level: 'ASC', libraryBuildId: 'DESC' },
    });
    return rows.map(({ libraryAppId, libraryBuildId, level }) => ({
      appId: libraryAppId,
      buildId: libraryBuildId,
      level,
    }));
  }

  /** The systems of a build, by resource name. */
  async systems(manager: EntityManager, buildId: string): Promise<BuildSystemEntity[]> {
    const rows = await manager.findBy(BuildSystemEntity, { buildId });
    return rows.toSorted((one, other) => (one.resourceName < other.resourceName ? -1 : 1));
  }

  /** The tools of a build without their definitions, by id. */
  async toolFacts(manager: EntityManager, buildId: string): Promise<BuildToolFacts[]> {
    return manager.find(BuildToolEntity, {
      select: TOOL_FACTS,
      where: { buildId },
      order: { toolId: 'ASC' },
    });
  }

  /** The tools of systems of a build, in the order of their servers' lists. */
  async tools(manager: EntityManager, buildId: string, systemIds: string[]): Promise<BuildToolEntity[]> {
    const rows = await manager.findBy(BuildToolEntity, { buildId, systemId: In(systemIds) });
    return rows.toSorted((one, other) => one.position - other.position);
  }

  /** A workflow of a build as JSON in UTF-8; null when there is none of this name. */
  async workflow(manager: EntityManager, buildId: string, name: string): Promise<Buffer | null> {
    const [row] = await manager.query<RawRow[]>(
      prepared(`${selectWorkflows(manager)} build_id = ? AND name = ?`),
      [buildId, name],
    );
    // The servers take a name with spaces behind it for the same name.
    return row?.['name'] === name ? toWorkflow(row).definition : null;
  }

  /** The workflows of builds that speak of an agent, by name. */
  async agentWorkflows(manager: EntityManager, buildIds: readonly string[]): Promise<WorkflowBytes[]> {
    const rows = await manager.query<RawRow[]>(
      `${selectWorkflows(manager)} build_id IN (${buildIds.map(() => '?').join(', ')}) AND definition LIKE '%CUSTOM_AGENT%'`,
      [...buildIds],
    );
    return rows.map(toWorkflow).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The libraries of builds, the closest level first. */
  async librariesOf(manager: EntityManager, buildIds: readonly string[]): Promise<string[]> {
    const where = { buildId: In([...buildIds]) };
    const order = { level: 'ASC', libraryBuildId: 'DESC' } as const;
    const rows = await manager.find(BuildLibraryEntity, { where, order });
    return rows.map(({ libraryBuildId }) => libraryBuildId);
  }

  /** Which of these builds bring each library, by the build of the library. */
  async broughtBy(manager: EntityManager, buildIds: readonly string[]): Promise<Map<string, string[]>> {
    const rows = await manager.findBy(BuildLibraryEntity, { buildId: In([...buildIds]) });
    const found = new Map<string, string[]>();
    rows.forEach(({ buildId, libraryBuildId }) =>
      found.set(libraryBuildId, [...(found.get(libraryBuildId) ?? []), buildId]),
    );
    return found;
  }

  /** The builds that use one of these as a library. */
  async usersOf(manager: EntityManager, appId: string, buildIds: readonly string[]): Promise<string[]> {
    const where = { libraryAppId: appId, libraryBuildId: In([...buildIds]) };
    return (await manager.findBy(BuildLibraryEntity, where)).map(({ buildId }) => buildId);
  }

  /** A process definition of a build that is there, with all its texts. */
  async definition(manager: EntityManager, id: number): Promise<BuildDefinitionEntity> {
    return manager.findOneByOrFail(BuildDefinitionEntity, { id });
  }

  /** The BPMN file of a process of a build; null when there is none of this name. */
  async bpmn(manager: EntityManager, buildId: string, name: string): Promise<string | null> {
    const where = { buildId, name };
    return (
      (await manager.findOne(BuildDefinitionEntity, { select: { bpmn: true, id: true }, where }))?.bpmn ??
      null
    );
  }

  /** Processes, workflows and systems of a build, each kind by name. */
  async resources(manager: EntityManager, buildId: string): Promise<BuildResource[]> {
    const processes = await manager.find(BuildDefinitionEntity, {
      select: { name: true, resourceId: true, svcUuid: true },
      where: { buildId },
      order: { name: 'ASC' },
    });
    const workflows = await this.workflowIds(manager, buildId);
    return [
      ...processes.map(({ name, resourceId, svcUuid }) => ({
        resourceType: 'PROCESS' as const,
        name,
        resourceId,
        resourceDefinitionId: svcUuid,
      })),
      ...workflows.map((workflow) => ({ resourceType: 'WORKFLOW' as const, ...workflow })),
      ...(await this.systems(manager, buildId)).map(
        ({ type, resourceName, resourceId, resourceDefinitionId }) => ({
          resourceType: type,
          name: resourceName,
          resourceId,
          resourceDefinitionId,
        }),
      ),
    ];
  }

  /** Names and ids of the workflows of a build, by name. */
  async workflowIds(
    manager: EntityManager,
    buildId: string,
  ): Promise<Pick<BuildWorkflowEntity, 'name' | 'resourceId' | 'resourceDefinitionId'>[]> {
    return manager.find(BuildWorkflowEntity, {
      select: { name: true, resourceId: true, resourceDefinitionId: true },
      where: { buildId },
      order: { name: 'ASC' },
    });
  }
}
