import { Injectable } from '@nestjs/common';
import { audited, type PathParams } from './audit-request.js';
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
