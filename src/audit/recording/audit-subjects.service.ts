import { Injectable } from '@nestjs/common';
import type { AuditEntry } from './audit.service.js';
import type { AuditAction } from '../model/audit.types.js';

/** What an audit event is about: an application version, and what of it. */
export type AuditSubject = Pick<
  AuditEntry,
  'appId' | 'appVersionId' | 'systemResourceId' | 'toolId' | 'details'
>;

/** Finds what a call is about by the parameters of its path; null when there is no such thing. */
export type SubjectFinder = (params: PathParams) => Promise<AuditSubject | null>;

/** What a refused or failed call is about: what its path says, or for paths that name no version what the module of the route finds. */
@Injectable()
export class AuditSubjectsService {
  private readonly finders = new Map<AuditAction, SubjectFinder>();

  /** Lets a module find the subjects of its actions, whose paths name no application version. */
  register(actions: readonly AuditAction[], finder: SubjectFinder): void {
    for (const action of actions) {
      this.finders.set(action, finder);
    }
  }

  /** @returns null for what is not there: nothing could have been done to it, so nothing is recorded */
  async find(action: AuditAction, params: PathParams): Promise<AuditSubject | null> {
    const finder = this.finders.get(action);
    return finder === undefined ? audited(params) : finder(params);
  }
}

const ID_MAX_LENGTH = 64;

/** The parameters of a path, which nobody has checked yet. */
export type PathParams = Readonly<Record<string, string | string[] | undefined>>;

/** Takes from the path of a request what an audit event names; ids are cut to what the columns hold. */
export function audited({
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
