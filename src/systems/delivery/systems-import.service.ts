import {
  connectionKeyOf,
  accountOptionsOf,
  accountText,
  credentialColumns,
  namesText,
} from '../model/connection.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { changesDestination } from '../registration/system-change.js';
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

/** Converts a system of a package to columns. */
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
 * Applies a package to a stored system. Keeps ids and tools, and the description when the package has none, because a connection test
 * may have filled it. Keeps the secrets, sealed for the new connection, unless its destination changes.
 * @throws SecretUnreadableError
 */
export function applyDelivery(
  stored: SystemEntity,
  columns: DeliveredColumns,
  secrets: Pick<SystemSecrets, 'rebind'>,
): SystemEntity {
  const staysHere = !changesDestination(stored, { ...stored, ...columns });
  const isUsed =
    columns.authorizationType === stored.authorizationType &&
    columns.authorizationType !== AuthorizationType.NoAuth;
  const keepsSecret = staysHere && isUsed && stored.clientSecret !== null;
  const merged = { ...stored, ...columns };
  const { key } = accountOptionsOf(stored);
  // Packages do not contain the signing options of a private key, which are stored with the key.
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
    // All values together are one secret that belongs to these names.
    headers: next.headerNames === stored.headerNames ? kept('headers') : null,
    connectionKey: connectionKeyOf(next),
  };
}

/** Returns whether two states of a system differ in a column that packages can change. */
export function differs(before: SystemEntity, after: SystemEntity): boolean {
  return COMPARED.some((field) => before[field] !== after[field]);
}

/** Returns whether the connection of a system lacks a required secret. */
export function lacksSecret(system: SystemEntity): boolean {
  const { authorizationType, clientSecret, clientCertificate, clientKey, headers, headerNames } = system;
  const needsSecret = authorizationType !== null && authorizationType !== AuthorizationType.NoAuth;
  return (
    (needsSecret && clientSecret === null) ||
    (clientCertificate !== null && clientKey === null) ||
    (headerNames !== null && headers === null)
  );
}

/** Returns whether a delivery deletes a secret. */
export function dropsSecret(before: SystemEntity, after: SystemEntity): boolean {
  return SECRETS.some((name) => before[name] !== null && after[name] === null);
}

/** Columns of a new system that its package leaves out. */
const NONE = { caCertificates: null, headerNames: null, timeoutMs: null };

/** Version, caller and time of a delivery. */
interface Delivery {
  version: AppVersionKey;
  principal: Principal;
  now: Date;
}

/**
 * Updates the systems of a version to those of a package. Removes REST and NOSQL_DB systems that the package does not contain. Keeps
 * MCP systems that it does not contain, because they may have been registered through the API. Systems are matched by resource name,
 * ignoring case. A system whose type changes is replaced.
 */
@Injectable()
export class SystemsImportService {
  constructor(
    private readonly database: Database,
    private readonly repository: SystemsRepository,
    private readonly secrets: SystemSecrets,
    private readonly clock: Clock,
  ) {}

  /** Imports systems. Call it in a transaction after `openForReplacing`. */
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

  /** Returns the existing definition ids of an application, by name in lower case. */
  async definitionIds(appId: string, resourceNames: string[]): Promise<Map<string, string>> {
    return this.database.read((manager) =>
      this.repository.definitionIds(manager, appId, resourceNames.map(nameKey)),
    );
  }

  /** Returns the definition ids of the systems of a version, by name in lower case. */
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
    const after = applyDelivery(before, columnsOf(system), this.secrets);
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
