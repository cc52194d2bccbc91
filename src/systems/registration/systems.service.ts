import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { demandMatch, type IfMatch } from '../../platform/http/conditional-requests.js';
import type { Principal } from '../../platform/user/principal.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../store/database.js';
import type { SharedRead } from '../../store/groups/read-queue.js';
import { VersionCommittedError } from '../../apps/apps.errors.js';
import { AppsService } from '../../apps/apps.service.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditService, type AuditEntry } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { connectionKey } from '../model/connection.js';
import { connectionOf } from '../model/authorization.request.dto.js';
import type { CreateSystemRequestDto, UpdateSystemRequestDto } from './system.request.dto.js';
import type {
  SystemEntity,
  LockedSystem,
  McpServerRow,
  SystemList,
  SystemState,
  TaggedSystem,
} from '../storage/system.entity.js';
import { nameKey } from '../../platform/validation/resource-name.js';
import { changed, changedFields } from './system-change.js';
import { eachSecret, SECRETS, SystemSecrets } from '../secrets/system-secrets.js';
import { type Connection, type ListOptions, type SystemKey, SystemType } from '../model/system.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** Equal for one system. */
function nameOf({ resourceId, appId, appVersionId }: SystemKey): string {
  return JSON.stringify([resourceId, appId, appVersionId]);
}

function requireWritable(writable: boolean): void {
  if (!writable) {
    throw new VersionCommittedError();
  }
}

/** Which systems a caller asks for. */
interface AskedList {
  version: AppVersionKey;
  options: ListOptions;
}

/** The systems of application versions (docs/contract.md, sections 2.1, 2.3 and 2.4, and their extensions). */
@Injectable()
export class SystemsService {
  private readonly readWithTools: SharedRead<SystemKey, TaggedSystem | null>;
  private readonly readTag: SharedRead<SystemKey, string | null>;
  private readonly readList: SharedRead<AskedList, SystemList>;

  constructor(
    private readonly database: Database,
    private readonly repository: SystemsRepository,
    private readonly apps: AppsService,
    private readonly secrets: SystemSecrets,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {
    this.readWithTools = database.sharedRead(
      (manager, keys) => repository.findWithTools(manager, keys),
      nameOf,
    );
    this.readTag = database.sharedRead((manager, keys) => repository.findTags(manager, keys), nameOf);
    this.readList = database.sharedRead(
      (manager, lists) => Promise.all(lists.map((asked) => this.listed(manager, asked))),
      ({ version: { appId, appVersionId }, options }) => JSON.stringify([appId, appVersionId, options]),
    );
  }

  /** Registers an MCP server. @throws VersionCommittedError, SystemNameTakenError */
  async create(
    principal: Principal,
    version: AppVersionKey,
    request: CreateSystemRequestDto,
  ): Promise<SystemEntity> {
    const now = this.clock.now();
    const draft = this.newSystem(principal, version, request, now);
    return this.database.write(async (manager) => {
      await this.apps.openForWriting(manager, version);
      const name = { appId: version.appId, nameKey: draft.nameKey };
      const resourceDefinitionId = await this.repository.definitionId(manager, name, {
        id: uuid(),
        createdAt: now,
      });
      const system = { ...draft, resourceDefinitionId };
      await this.repository.insert(manager, system);
      await this.audit.record(manager, principal, eventOf(AuditAction.SystemCreate, system));
      return system;
    });
  }

  /** With its tools, the same object for all who ask at the same time. @throws SystemNotFoundError */
  async details(key: SystemKey): Promise<TaggedSystem> {
    return found(await this.readWithTools(key));
  }

  /** The entity tag that `details` would give now. @throws SystemNotFoundError */
  async tag(key: SystemKey): Promise<string> {
    return found(await this.readTag(key));
  }

  /** The id of an MCP system. @throws SystemNotFoundError */
  async idOf(key: SystemKey): Promise<string> {
    return found(await this.database.read((manager) => this.repository.idOf(manager, key)));
  }

  /** The systems of a version, of all types; the same object for all who ask at the same time. */
  list(version: AppVersionKey, options: ListOptions): Promise<SystemList> {
    return this.readList({ version, options });
  }

  private async listed(manager: EntityManager, { version, options }: AskedList): Promise<SystemList> {
    const { dependencyTypes, withManifest } = options;
    const others = await this.apps.dependencies(manager, version, dependencyTypes);
    const rows = await this.repository.summaries(manager, [version, ...others]);
    return withManifest
      ? { rows, versions: await this.apps.statuses(manager, [version, ...others]) }
      : { rows };
  }

  /** A system as it is at this moment; null when it is gone. Not inside of a transaction. */
  async state(id: string): Promise<SystemState | null> {
    const [state] = await this.database.read((manager) => this.repository.states(manager, { id }));
    return state ?? null;
  }

  /** The systems of a version as they are at this moment, of all types. Not inside of a transaction. */
  async states({ appId, appVersionId }: AppVersionKey): Promise<SystemState[]> {
    return this.database.read((manager) => this.repository.states(manager, { appId, appVersionId }));
  }

  /** MCP systems of all applications behind the id `after` (empty for the first page), oldest first. */
  async mcpServers(after: string, limit: number): Promise<McpServerRow[]> {
    return this.database.read((manager) => this.repository.mcpServersAfter(manager, after, limit));
  }

  /**
   * Changes what the request names and keeps the rest. A request that changes nothing leaves no trace.
   * @throws SystemNotFoundError, ValidationFailedError, SecretRequiredError, VersionCommittedError, ChangedMeanwhileError
   */
  async update(
    principal: Principal,
    key: SystemKey,
    request: UpdateSystemRequestDto,
    ifMatch?: IfMatch,
  ): Promise<TaggedSystem> {
    return this.database.write(async (manager) => {
      const { system: stored, writable } = await this.lockForSwitching(manager, key);
      const next = changed(stored, request, this.secrets);
      requireWritable(writable);
      await this.demandMatch(manager, key, ifMatch);
      const fields = changedFields(stored, next, request);
      if (fields.length > 0) {
        await this.save(manager, principal, next);
        await this.audit.record(manager, principal, eventOf(AuditAction.SystemUpdate, next, { fields }));
      }
      const [shown] = await this.repository.findWithTools(manager, [key]);
      return found(shown ?? null);
    });
  }

  /** Makes sure that there is a system, of any type. @throws SystemNotFoundError */
  async demandAny(key: SystemKey): Promise<void> {
    if (!(await this.database.read((manager) => this.repository.exists(manager, key)))) {
      throw new SystemNotFoundError();
    }
  }

  /**
   * Removes a system and its tools. Its audit events stay.
   * @throws SystemNotFoundError, VersionCommittedError, ChangedMeanwhileError
   */
  async remove(principal: Principal, key: SystemKey, ifMatch?: IfMatch): Promise<SystemEntity> {
    return this.database.write(async (manager) => {
      const { system, writable } = await this.lockForSwitching(manager, key);
      requireWritable(writable);
      await this.demandMatch(manager, key, ifMatch);
      await this.repository.remove(manager, system.id);
      await this.audit.record(manager, principal, eventOf(AuditAction.SystemDelete, system));
      return system;
    });
  }

  /**
   * Nobody else changes the system or commits its version until the transaction ends. How a system is used may change in a committed
   * version too.
   * @throws SystemNotFoundError
   */
  async lockForSwitching(manager: EntityManager, key: SystemKey): Promise<LockedSystem> {
    const writable = await this.apps.isWritable(manager, key);
    return { system: found(await this.repository.lock(manager, key)), writable };
  }

  /**
   * Refuses a change of a system that is another than the caller has read. Only `*` names one that is no MCP system.
   * @throws ChangedMeanwhileError
   */
  async demandMatch(manager: EntityManager, key: SystemKey, ifMatch: IfMatch | undefined): Promise<void> {
    if (ifMatch !== undefined) {
      demandMatch(ifMatch, await this.tagInside(manager, key));
    }
  }

  /** The entity tag of a locked system as its transaction leaves it; empty where it is shown with none. */
  async tagInside(manager: EntityManager, key: SystemKey): Promise<string> {
    const [tag] = await this.repository.findTags(manager, [key]);
    return tag ?? '';
  }

  /** Stores a locked system as changed now by this caller. */
  async save(manager: EntityManager, principal: Principal, system: SystemEntity): Promise<void> {
    await this.repository.update(manager, {
      ...system,
      modifiedBy: principal.user,
      modifiedAt: this.clock.now(),
    });
  }

  /** Stores notes of the service about a locked system. Nobody changed it, so author and time stay. */
  async saveUnchanged(manager: EntityManager, system: SystemEntity): Promise<void> {
    await this.repository.update(manager, system);
  }

  /** The MCP systems of a version that a test of this connection covers: equal in everything, the secret included. */
  async coveredBy(version: AppVersionKey, connection: Connection): Promise<SystemEntity[]> {
    const key = connectionKey(connection);
    const candidates = await this.database.read((manager) =>
      this.repository.findByConnection(manager, version, key),
    );
    return candidates.filter((system) => this.hasConnection(system, connection));
  }

  /** Whether a system still has this connection, secret included. */
  hasConnection(system: SystemEntity, connection: Connection): boolean {
    return (
      system.connectionKey === connectionKey(connection) &&
      SECRETS.every((name) => this.secrets.matches(system, connection[name], name))
    );
  }

  private newSystem(
    principal: Principal,
    version: AppVersionKey,
    { resourceName, payload }: CreateSystemRequestDto,
    now: Date,
  ): Omit<SystemEntity, 'tools' | 'resourceDefinitionId'> {
    const id = uuid();
    const connection = connectionOf(payload);
    const { clientSecret, clientKey, headers, ...stored } = connection;
    const secrets = { clientSecret, clientKey, headers };
    return {
      ...version,
      ...stored,
      id,
      resourceId: uuid(),
      type: SystemType.Mcp,
      resourceName,
      nameKey: nameKey(resourceName),
      name: payload.name,
      description: payload.description ?? '',
      ...eachSecret((name) => {
        const secret = secrets[name];
        return secret === null ? null : this.secrets.seal({ ...stored, id }, secret, name);
      }),
      timeoutMs: payload.timeoutMs ?? null,
      connectionKey: connectionKey(connection),
      toolsSynchronisedAt: null,
      toolsDueAt: null,
      createdBy: principal.user,
      modifiedBy: principal.user,
      createdAt: now,
      modifiedAt: now,
    };
  }
}

/** An event of a system for the audit log of its version. */
export function eventOf(
  action: AuditAction,
  { appId, appVersionId, resourceId, resourceName }: SystemEntity,
  details: Record<string, unknown> = {},
): AuditEntry {
  return {
    action,
    outcome: AuditOutcome.Ok,
    appId,
    appVersionId,
    systemResourceId: resourceId,
    details: { resourceName, ...details },
  };
}

/** @throws SystemNotFoundError when there is none */
export function found<System>(system: System | null): System {
  if (system === null) {
    throw new SystemNotFoundError();
  }
  return system;
}
