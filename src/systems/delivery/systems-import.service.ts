import {
  connectionKeyOf,
  accountOptionsOf,
  accountText,
  credentialColumns,
  namesText,
} from '../model/connection.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { goesElsewhere } from '../registration/system-change.js';
import { type SecretName, SECRETS, SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, SETTABLE_COLUMNS, SystemType } from '../model/system.types.js';
import type { DeliveredColumns, DeliveredSystem, SystemsImport } from './systems-import.types.js';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../platform/user/principal.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../store/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { nameKey } from '../../platform/validation/resource-name.js';
import { SystemsRepository } from '../storage/systems.repository.js';

const COMPARED = ['resourceName', ...SETTABLE_COLUMNS] as const;

/** What a package says of a system, as columns. */
export function columnsOf(system: DeliveredSystem): DeliveredColumns {
  const { type, resourceName, name, description, baseUrl, authorization, tls, headers, timeoutMs } = system;
  return {
    type,
    resourceName,
    name,
    description,
    baseUrl,
    authorizationType: authorization.type,
    ...credentialColumns(authorization.type, authorization.configuration),
    ...(tls === undefined ? {} : { caCertificates: tls?.caCertificates ?? null }),
    ...(headers === undefined ? {} : { headerNames: namesText(headers) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/**
 * A stored system as a package wants it. It keeps its ids and tools, and its description where the package has none, because a
 * connection test may have filled it. It keeps its secrets, sealed for the new connection, unless that leads elsewhere.
 * @throws SecretUnreadableError
 */
export function delivered(
  stored: SystemEntity,
  columns: DeliveredColumns,
  secrets: Pick<SystemSecrets, 'rebind'>,
): SystemEntity {
  const staysHere = !goesElsewhere(stored, { ...stored, ...columns });
  const isUsed =
    columns.authorizationType === stored.authorizationType &&
    columns.authorizationType !== AuthorizationType.NoAuth;
  const keepsSecret = staysHere && isUsed && stored.clientSecret !== null;
  const merged = { ...stored, ...columns };
  const { key } = accountOptionsOf(stored);
  // A package does not say that a client signs with a private key: that comes with the key.
  const next =
    keepsSecret && key !== null
      ? { ...merged, credentialOptions: accountText({ ...accountOptionsOf(merged), key }) }
      : merged;
  const kept = (name: SecretName): string | null => {
    const sealed = stored[name];
    return staysHere && sealed !== null ? secrets.rebind(stored, next, sealed, name) : null;
  };
  return {
    ...next,
    description: columns.description === '' ? stored.description : columns.description,
    clientSecret: keepsSecret ? kept('clientSecret') : null,
    clientKey: kept('clientKey'),
    // The values are one secret, which is for these names.
    headers: next.headerNames === stored.headerNames ? kept('headers') : null,
    connectionKey: connectionKeyOf(next),
  };
}

/** Whether two states of one system differ in anything that a package can change. */
export function differs(before: SystemEntity, after: SystemEntity): boolean {
  return COMPARED.some((field) => before[field] !== after[field]);
}

/** Whether the connection of a system lacks a secret that it needs. */
export function lacksSecret(system: SystemEntity): boolean {
  const { authorizationType, clientSecret, clientCertificate, clientKey, headers, headerNames } = system;
  const needsSecret = authorizationType !== null && authorizationType !== AuthorizationType.NoAuth;
  return (
    (needsSecret && clientSecret === null) ||
    (clientCertificate !== null && clientKey === null) ||
    (headerNames !== null && headers === null)
  );
}

/** Whether a delivery took a secret away. */
export function dropsSecret(before: SystemEntity, after: SystemEntity): boolean {
  return SECRETS.some((name) => before[name] !== null && after[name] === null);
}

/** What a new system has where its package says nothing. */
const NONE = { caCertificates: null, headerNames: null, timeoutMs: null };

/** The version, who delivers, and when. */
interface Delivery {
  version: AppVersionKey;
  principal: Principal;
  now: Date;
}

/**
 * Brings the systems of a version in line with a package. The package is the whole truth about REST and NOSQL_DB systems: those
 * that it does not name go. An MCP system that it does not name stays, because it can have been registered by endpoint 1. A
 * system is known by its resource name, without regard to case. A system that changes its type is another one.
 */
@Injectable()
export class SystemsImportService {
  constructor(
    private readonly database: Database,
    private readonly repository: SystemsRepository,
    private readonly secrets: SystemSecrets,
    private readonly clock: Clock,
  ) {}

  /** Part of a transaction in which the version is open for replacing. */
  async import(
    manager: EntityManager,
    principal: Principal,
    version: AppVersionKey,
    systems: DeliveredSystem[],
  ): Promise<SystemsImport> {
    const delivery = { version, principal, now: this.clock.now() };
    const stored = new Map(
      (await this.repository.lockAll(manager, version)).map((system) => [system.nameKey, system]),
    );
    const result: SystemsImport = {
      added: [],
      changed: [],
      removed: [],
      secretsDropped: [],
      secretsMissing: [],
    };
    await this.removeUnnamed(manager, stored, systems, result);
    for (const system of systems) {
      const before = stored.get(nameKey(system.resourceName));
      if (before === undefined || before.type !== system.type) {
        await this.add(manager, delivery, system, result);
      } else {
        await this.change(manager, delivery, { before, system }, result);
      }
    }
    return result;
  }

  /** The definition ids that an application gave to names so far, by name in lower case. */
  async definitionIds(appId: string, resourceNames: string[]): Promise<Map<string, string>> {
    return this.database.read((manager) =>
      this.repository.definitionIds(manager, appId, resourceNames.map(nameKey)),
    );
  }

  /** Ids of the systems of a version, by name in lower case. */
  async idsByName(manager: EntityManager, version: AppVersionKey): Promise<Map<string, string>> {
    const rows = await this.repository.summaries(manager, [version]);
    return new Map(rows.map((row) => [nameKey(row.resourceName), row.resourceDefinitionId]));
  }

  private async removeUnnamed(
    manager: EntityManager,
    stored: Map<string, SystemEntity>,
    systems: DeliveredSystem[],
    result: SystemsImport,
  ): Promise<void> {
    const types = new Map(systems.map((system) => [nameKey(system.resourceName), system.type]));
    for (const system of stored.values()) {
      const type = types.get(system.nameKey);
      const stays = type === undefined ? system.type === SystemType.Mcp : type === system.type;
      if (!stays) {
        await this.repository.remove(manager, system.id);
        result.removed.push(system.resourceName);
      }
    }
  }

  private async add(
    manager: EntityManager,
    { version, principal, now }: Delivery,
    system: DeliveredSystem,
    result: SystemsImport,
  ): Promise<void> {
    const key = nameKey(system.resourceName);
    const resourceDefinitionId = await this.repository.definitionId(
      manager,
      { appId: version.appId, nameKey: key },
      { id: uuid(), createdAt: now },
    );
    const columns = { ...NONE, ...columnsOf(system), clientCertificate: null };
    const row = {
      ...version,
      ...columns,
      connectionKey: connectionKeyOf(columns),
      id: uuid(),
      resourceId: uuid(),
      resourceDefinitionId,
      nameKey: key,
      clientSecret: null,
      clientKey: null,
      headers: null,
      toolsSynchronisedAt: null,
      toolsDueAt: null,
      createdBy: principal.user,
      modifiedBy: principal.user,
      createdAt: now,
      modifiedAt: now,
    };
    await this.repository.insert(manager, row);
    result.added.push(system.resourceName);
    noteMissingSecret(row, result);
  }

  private async change(
    manager: EntityManager,
    { principal, now }: Delivery,
    { before, system }: { before: SystemEntity; system: DeliveredSystem },
    result: SystemsImport,
  ): Promise<void> {
    const after = delivered(before, columnsOf(system), this.secrets);
    noteMissingSecret(after, result);
    if (dropsSecret(before, after)) {
      result.secretsDropped.push(system.resourceName);
    }
    if (differs(before, after)) {
      await this.repository.update(manager, { ...after, modifiedBy: principal.user, modifiedAt: now });
      result.changed.push(system.resourceName);
    }
  }
}

function noteMissingSecret(system: SystemEntity, { secretsMissing }: SystemsImport): void {
  if (lacksSecret(system)) {
    secretsMissing.push(system.resourceName);
  }
}
