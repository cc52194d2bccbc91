import { Injectable } from '@nestjs/common';
import type { AuditEntry } from './audit.service.js';
import type { AuditAction } from '../model/audit.types.js';

/** Subject of an audit event: an application version and, where given, its system or tool. */
export type AuditSubject = Pick<
  AuditEntry,
  'appId' | 'appVersionId' | 'systemResourceId' | 'toolId' | 'details'
>;

/** Finds the subject of a request by its path parameters; null when it does not exist. */
export type SubjectFinder = (params: PathParams) => Promise<AuditSubject | null>;

/** Finds the subjects of refused or failed requests, from the path or, for paths without a version, with a registered finder. */
@Injectable()
export class AuditSubjectsService {
  private readonly finders = new Map<AuditAction, SubjectFinder>();

  /** Registers the finder of actions whose paths name no application version. */
  register(actions: readonly AuditAction[], finder: SubjectFinder): void {
    for (const action of actions) {
      this.finders.set(action, finder);
    }
  }

  /** Finds the subject of a request. @returns null when it does not exist, so there is nothing to record */
  async find(action: AuditAction, params: PathParams): Promise<AuditSubject | null> {
    const finder = this.finders.get(action);
    return finder === undefined ? subjectInPath(params) : finder(params);
  }
}

const ID_MAX_LENGTH = 64;

/** Path parameters before validation. */
export type PathParams = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the subject of an audit event from path parameters. Truncates ids to the width of their columns. */
export function subjectInPath({
  appId,
  versionId,
  systemResourceId,
  toolId,
}: PathParams): Pick<AuditEntry, 'appId' | 'appVersionId' | 'systemResourceId' | 'toolId'> {
  return {
    appId: id(appId) ?? '',
    appVersionId: id(versionId) ?? '',
    systemResourceId: id(systemResourceId),
    toolId: id(toolId),
  };
}

function id(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value.slice(0, ID_MAX_LENGTH) : null;
}
