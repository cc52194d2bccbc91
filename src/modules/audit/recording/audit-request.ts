import type { AuditEntry } from './audit.service.js';

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
