import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { requireMatch, type IfMatch } from '../../platform/http/conditional-requests.js';
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
import { applyChange, changedFields } from './system-change.js';
import { eachSecret, SECRETS, SystemSecrets } from '../secrets/system-secrets.js';
import { type Connection, type ListOptions, type SystemKey, SystemType } from '../model/system.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** Returns a unique text for a key. */
function textOf({ resourceId, appId, appVersionId }: SystemKey): string {
  return JSON.stringify([resourceId, appId, appVersionId]);
}

function requireWritable(writable: boolean): void {
  if (!writable) {
    throw new VersionCommittedError();
  }
}

/** Parameters of a list of systems. */
interface ListRequest {
  version: AppVersionKey;
  options: ListOptions;
}

/** Manages the systems of application versions (docs/contract.md, sections 2.1, 2.3 and 2.4, and their extensions). */
@Injectable()
export class SystemsService {
  private readonly readWithTools: SharedRead<SystemKey, TaggedSystem | null>;
  private readonly readTag: SharedRead<SystemKey, string | null>;
  private readonly readList: SharedRead<ListRequest, SystemList>;

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
      textOf,
    );
    this.readTag = database.sharedRead((manager, keys) => repository.findTags(manager, keys), textOf);
    this.readList = database.sharedRead(
      (manager, lists) => Promise.all(lists.map((list) => this.readSystems(manager, list))),
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

  /** Returns a system with its tools; concurrent calls get the same object. @throws SystemNotFoundError */
  async details(key: SystemKey): Promise<TaggedSystem> {
    return found(await this.readWithTools(key));
  }

  /** Returns the current entity tag of `details`. @throws SystemNotFoundError */
  async tag(key: SystemKey): Promise<string> {
    return found(await this.readTag(key));
  }

  /** Returns the id of an MCP system. @throws SystemNotFoundError */
  async idOf(key: SystemKey): Promise<string> {
    return found(await this.database.read((manager) => this.repository.idOf(manager, key)));
  }

  /** Lists the systems of a version, of all types; concurrent calls get the same object. */
  list(version: AppVersionKey, options: ListOptions): Promise<SystemList> {
    return this.readList({ version, options });
  }

  private async readSystems(manager: EntityManager, { version, options }: ListRequest): Promise<SystemList> {
    const { dependencyTypes, withManifest } = options;
    const others = await this.apps.dependencies(manager, version, dependencyTypes);
    const rows = await this.repository.summaries(manager, [version, ...others]);
    return withManifest
      ? { rows, versions: await this.apps.statuses(manager, [version, ...others]) }
      : { rows };
  }

  /** Returns the current state of a system; null when it is gone. Call it outside transactions. */
  async state(id: string): Promise<SystemState | null> {
    const [state] = await this.database.read((manager) => this.repository.states(manager, { id }));
    return state ?? null;
  }

  /** Returns the current states of the systems of a version, of all types. Call it outside transactions. */
  async states({ appId, appVersionId }: AppVersionKey): Promise<SystemState[]> {
    return this.database.read((manager) => this.repository.states(manager, { appId, appVersionId }));
  }

  /** Lists MCP systems of all applications, oldest first, starting after the id `after` (empty for the first page). */
  async mcpServers(after: string, limit: number): Promise<McpServerRow[]> {
    return this.database.read((manager) => this.repository.mcpServersAfter(manager, after, limit));
  }

  /**
   * Changes the fields in the request and keeps the others. A request that changes nothing is neither stored nor audited.
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
      const next = applyChange(stored, request, this.secrets);
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

  /** Checks that a system of any type exists. @throws SystemNotFoundError */
  async demandAny(key: SystemKey): Promise<void> {
    if (!(await this.database.read((manager) => this.repository.exists(manager, key)))) {
      throw new SystemNotFoundError();
    }
  }

  /**
   * Deletes a system and its tools. Keeps its audit events.
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
   * Locks a system against changes, and its version against a commit, until the transaction ends. Does not require a draft, because
   * flags of tools may change in a committed version too.
   * @throws SystemNotFoundError
   */
  async lockForSwitching(manager: EntityManager, key: SystemKey): Promise<LockedSystem> {
    const writable = await this.apps.isWritable(manager, key);
    return { system: found(await this.repository.lock(manager, key)), writable };
  }

  /**
   * Rejects a change when the system differs from the one that the caller read. Systems other than MCP systems match only `*`.
   * @throws ChangedMeanwhileError
   */
  async demandMatch(manager: EntityManager, key: SystemKey, ifMatch: IfMatch | undefined): Promise<void> {
    if (ifMatch !== undefined) {
      requireMatch(ifMatch, await this.tagInside(manager, key));
    }
  }

  /** Returns the entity tag of a locked system, including changes of this transaction; empty for systems without a tag. */
  async tagInside(manager: EntityManager, key: SystemKey): Promise<string> {
    const [tag] = await this.repository.findTags(manager, [key]);
    return tag ?? '';
  }

  /** Stores a locked system with the caller as author of the change. */
  async save(manager: EntityManager, principal: Principal, system: SystemEntity): Promise<void> {
    await this.repository.update(manager, {
      ...system,
      modifiedBy: principal.user,
      modifiedAt: this.clock.now(),
    });
  }

  /** Stores internal data of a locked system without changing author and time. */
  async saveUnchanged(manager: EntityManager, system: SystemEntity): Promise<void> {
    await this.repository.update(manager, system);
  }

  /** Finds the MCP systems of a version that have exactly this connection, including its secrets. */
  async coveredBy(version: AppVersionKey, connection: Connection): Promise<SystemEntity[]> {
    const key = connectionKey(connection);
    const candidates = await this.database.read((manager) =>
      this.repository.findByConnection(manager, version, key),
    );
    return candidates.filter((system) => this.hasConnection(system, connection));
  }

  /** Returns whether a system has exactly this connection, including its secrets. */
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

/** Creates an audit event about a system. */
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

/** Returns the system. @throws SystemNotFoundError when it is null */
export function found<System>(system: System | null): System {
  if (system === null) {
    throw new SystemNotFoundError();
  }
  return system;
}
