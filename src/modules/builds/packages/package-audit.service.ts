import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import type { PackageProblem } from '../../packages/model/package.types.js';
import type { JudgedPackage } from '../../packages/thread/package-task.types.js';
import type { SystemsImport } from '../../systems/delivery/systems-import.types.js';
import type { PackageEdit } from '../model/builds.types.js';
import type { ResolvedLibraries } from '../libraries/libraries.service.js';
import { LibraryRightsService } from '../libraries/library-rights.service.js';
import type { PackageState } from '../storage/app-packages.repository.js';

/** Names of each kind that an audit event tells. */
const AUDITED_NAMES = 50;

/** A package on its way into a version. */
export interface Delivery {
  version: AppVersionKey;
  package: JudgedPackage & { drafts: Uint8Array };
  libraries: ResolvedLibraries;
  /** When its check looked at what is stored so far. */
  at: Date;
  /** What that was; null for nothing. */
  before: PackageState | null;
  /** What is not quite right with it. */
  remarks: PackageProblem[];
}

/** Tells the audit log of packages, in the transactions that store them. */
@Injectable()
export class PackageAuditService {
  constructor(
    private readonly audit: AuditService,
    private readonly rights: LibraryRightsService,
  ) {}

  /** Another package is in a version, or its systems are others. */
  async stored(
    manager: EntityManager,
    principal: Principal,
    { version, package: { checksum, processCount, workflowCount } }: Delivery,
    { added, changed, removed, secretsDropped }: SystemsImport,
  ): Promise<void> {
    await this.audit.record(manager, principal, {
      action: AuditAction.PackageStore,
      outcome: AuditOutcome.Ok,
      appId: version.appId,
      appVersionId: version.appVersionId,
      details: {
        checksum,
        processes: processCount,
        workflows: workflowCount,
        systemsAdded: told(added),
        systemsChanged: told(changed),
        systemsRemoved: told(removed),
        secretsDropped: told(secretsDropped),
      },
    });
  }

  /** A part of a package was edited. */
  async edited(
    manager: EntityManager,
    principal: Principal,
    version: AppVersionKey,
    event: PackageEdit['event'],
  ): Promise<void> {
    await this.audit.record(manager, principal, { ...event, ...version, outcome: AuditOutcome.Ok });
  }

  /** Tells the owners of libraries that a package names builds of them. */
  async librariesUsed(
    manager: EntityManager,
    principal: Principal,
    { version, libraries }: Delivery,
  ): Promise<void> {
    await this.rights.record(manager, principal, version, libraries.named);
  }
}

function told(names: string[]): string[] {
  return names.slice(0, AUDITED_NAMES);
}
