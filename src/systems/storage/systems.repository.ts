import { Injectable } from '@nestjs/common';
import { In, MoreThan, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { insertIfAbsent } from '../../store/tables/insert-if-absent.js';
import { lockOption } from '../../store/tables/row-locks.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import {
  ResourceDefinitionEntity,
  SystemEntity,
  type McpServerRow,
  type SystemState,
  type SystemSummaryRow,
  type TaggedSystem,
} from './system.entity.js';
import {
  readRows,
  SYSTEM_VERSION,
  SYSTEM_WITH_TOOLS,
  tagOf,
  toDetails,
  readSummaries,
} from './systems.statements.js';
import { SystemType, type SystemKey } from '../model/system.types.js';
import { SystemNameTakenError } from '../model/systems.errors.js';

const MCP_SERVER = {
  id: true,
  resourceDefinitionId: true,
  appId: true,
  resourceName: true,
  baseUrl: true,
  authorizationType: true,
  identityProviderUrl: true,
} as const;

const STATE = {
  id: true,
  appId: true,
  resourceDefinitionId: true,
  resourceName: true,
  name: true,
  type: true,
  baseUrl: true,
  toolsSynchronisedAt: true,
} as const;

@Injectable()
export class SystemsRepository {
  /** @throws SystemNameTakenError when the unique index rejects the name */
  async insert(manager: EntityManager, system: SystemEntity): Promise<void> {
    await refuseTakenName(manager.insert(SystemEntity, system));
  }

  /** @throws SystemNameTakenError when the unique index rejects the name */
  async update(manager: EntityManager, system: SystemEntity): Promise<void> {
    const { id, ...columns } = system;
    await refuseTakenName(manager.update(SystemEntity, { id }, columns));
  }

  /** Deletes a locked system with its tools. */
  async remove(manager: EntityManager, id: string): Promise<void> {
    // The entities belong to the module of tools, which builds on this one.
    await manager.delete('reviewed_tools', { systemId: id });
    await manager.delete('tools', { systemId: id });
    await manager.delete(SystemEntity, { id });
  }

  /** Finds the id of an MCP system. */
  async idOf(manager: EntityManager, { appId, appVersionId, resourceId }: SystemKey): Promise<string | null> {
    const where = { appId, appVersionId, resourceId, type: SystemType.Mcp };
    return (await manager.findOne(SystemEntity, { select: { id: true }, where }))?.id ?? null;
  }

  /** Finds MCP systems with their present tools in the order of the server's list; null for missing ones. */
  async findWithTools(manager: EntityManager, keys: readonly SystemKey[]): Promise<(TaggedSystem | null)[]> {
    return (await readRows(manager, SYSTEM_WITH_TOOLS, keys)).map((rows) => {
      const [system, tag] = [toDetails(rows), tagOf(rows)];
      return system === null || tag === null ? null : { system, tag };
    });
  }

  /** Finds the current entity tags of MCP systems; null for missing ones. */
  async findTags(manager: EntityManager, keys: readonly SystemKey[]): Promise<(string | null)[]> {
    return (await readRows(manager, SYSTEM_VERSION, keys)).map(tagOf);
  }

  /** Reads an MCP system and locks it until the transaction ends. */
  async lock(manager: EntityManager, key: SystemKey): Promise<SystemEntity | null> {
    return this.lockOne(manager, key, { type: SystemType.Mcp });
  }

  /** Like `lock`, for systems of all types. */
  async lockAny(manager: EntityManager, key: SystemKey): Promise<SystemEntity | null> {
    return this.lockOne(manager, key);
  }

  /** Returns whether a system of any type exists. */
  async exists(manager: EntityManager, { appId, appVersionId, resourceId }: SystemKey): Promise<boolean> {
    return manager.existsBy(SystemEntity, { appId, appVersionId, resourceId });
  }

  /** Reads all systems of a version and locks them until the transaction ends. */
  async lockAll(manager: EntityManager, { appId, appVersionId }: AppVersionKey): Promise<SystemEntity[]> {
    const lock = lockOption(manager, 'pessimistic_write');
    const systems = await manager.find(SystemEntity, { where: { appId, appVersionId }, ...lock });
    return systems.toSorted((one, other) => (one.nameKey < other.nameKey ? -1 : 1));
  }

  /** Finds the definition ids of an application by name key; names without one are omitted. */
  async definitionIds(
    manager: EntityManager,
    appId: string,
    nameKeys: string[],
  ): Promise<Map<string, string>> {
    const rows = await manager.findBy(ResourceDefinitionEntity, { appId, nameKey: In(nameKeys) });
    return new Map(rows.map((row) => [row.nameKey, row.id]));
  }

  /** Finds MCP systems of a version by connection key, which does not include secrets. */
  async findByConnection(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    connectionKey: string,
  ): Promise<SystemEntity[]> {
    return manager.find(SystemEntity, {
      where: { appId, appVersionId, connectionKey, type: SystemType.Mcp },
      order: { nameKey: 'ASC' },
    });
  }

  /** Lists MCP systems of all applications by id, which is the order of creation. */
  async mcpServersAfter(manager: EntityManager, id: string, limit: number): Promise<McpServerRow[]> {
    const where = { id: MoreThan(id), type: SystemType.Mcp };
    const found = { select: MCP_SERVER, where, order: { id: 'ASC' }, take: limit } as const;
    return (await manager.find(SystemEntity, found)) as McpServerRow[];
  }

  /** Finds the current states of systems. */
  async states(manager: EntityManager, where: FindOptionsWhere<SystemEntity>): Promise<SystemState[]> {
    return manager.find(SystemEntity, { select: STATE, where });
  }

  /** Lists all systems of versions, sorted by version and name. */
  async summaries(manager: EntityManager, versions: AppVersionKey[]): Promise<SystemSummaryRow[]> {
    return readSummaries(manager, versions);
  }

  /** Returns the definition id of a name, and creates it for the first version that uses the name. @param proposed values of a new definition */
  async definitionId(
    manager: EntityManager,
    { appId, nameKey }: { appId: string; nameKey: string },
    proposed: { id: string; createdAt: Date },
  ): Promise<string> {
    const known = await manager.findOneBy(ResourceDefinitionEntity, { appId, nameKey });
    if (known !== null) {
      return known.id;
    }
    const row = { ...proposed, appId, nameKey, toolsSynchronisedAt: null };
    await insertIfAbsent(manager, ResourceDefinitionEntity, row);
    return (await manager.findOneByOrFail(ResourceDefinitionEntity, { appId, nameKey })).id;
  }

  private async lockOne(
    manager: EntityManager,
    { appId, appVersionId, resourceId }: SystemKey,
    only: Partial<Pick<SystemEntity, 'type'>> = {},
  ): Promise<SystemEntity | null> {
    const where = { appId, appVersionId, resourceId, ...only };
    return manager.findOne(SystemEntity, { where, ...lockOption(manager, 'pessimistic_write') });
  }
}

async function refuseTakenName(statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    // All other unique values were just generated, so only the name can be taken.
    throw isDuplicate(error) ? new SystemNameTakenError() : error;
  }
}
