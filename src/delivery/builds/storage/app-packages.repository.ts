import type { EntityManager } from 'typeorm';
import { prepared } from '../../../store/connection/prepared-statements.js';
import { textBytes, textExpression, textPlace, textValue } from '../../../store/tables/column-values.js';
import { sqlTime } from '../../../store/tables/table-columns.js';
import { Table } from '../../../store/tables/table.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AppPackageEntity } from './build.entity.js';

/**
 * A package to store: the JSON of its document and of its draft workflows, both packed by packText() and in the form that `storedBytes`
 * returns.
 */
export type NewPackage = Omit<AppPackageEntity, 'document' | 'workflows'> &
  Readonly<Record<'document' | 'workflows', Uint8Array>>;

/** The characters of a stored document, packed by packText(). */
export type PackedDocument = Pick<AppPackageEntity, 'checksum'> & { document: Buffer };

/** Identifies a stored package among all packages of a version, including earlier equal ones. */
export type PackageState = Pick<AppPackageEntity, 'checksum' | 'storedAt'>;

const PACKAGES = new Table(AppPackageEntity);
const STATES = PACKAGES.select('appId', 'appVersionId', 'checksum', 'storedAt');
const CHECKSUM = PACKAGES.select('checksum');
const COLUMNS = 'app_id, app_version_id, checksum, stored_at, stored_by, document, workflows';

/** Rows of application packages, one per version. Packed columns stay packed here. */
export const AppPackages = {
  /** Returns the document, or null when there is none. */
  async document(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<PackedDocument | null> {
    const selection = CHECKSUM.with('document', textExpression(manager, 'document'));
    const row = await selection.first(manager, { appId, appVersionId });
    return row && { ...row, document: textBytes(row.document) };
  },

  /** Returns which package a version has, or null when there is none. */
  async state(manager: EntityManager, { appId, appVersionId }: AppVersionKey): Promise<PackageState | null> {
    return STATES.first(manager, { appId, appVersionId });
  },

  /** Returns the state with the checked workflows, or null when there is none. */
  async workflows(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<(PackageState & { workflows: Buffer }) | null> {
    const selection = STATES.with('workflows', textExpression(manager, 'workflows'));
    const row = await selection.first(manager, { appId, appVersionId });
    return row && { ...row, workflows: textBytes(row.workflows) };
  },

  /** Adds or replaces the package of a version that is open for replacing. */
  async store(manager: EntityManager, pkg: NewPackage): Promise<void> {
    const { appId, appVersionId, checksum, storedAt, storedBy, document, workflows } = pkg;
    await PACKAGES.delete(manager, { appId, appVersionId });
    const text = textPlace(manager);
    await manager.query(
      prepared(`INSERT INTO app_packages (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ${text}, ${text})`),
      [
        appId,
        appVersionId,
        checksum,
        sqlTime(storedAt),
        JSON.stringify(storedBy),
        textValue(manager, document),
        textValue(manager, workflows),
      ],
    );
  },
};
