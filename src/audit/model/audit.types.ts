import type { PageQuery } from '../../platform/validation/page.js';
import type { TimeRange } from '../../store/tables/conditions.js';

/** Audited actions, named `<thing>.<verb>`. */
export enum AuditAction {
  SystemCreate = 'system.create',
  SystemUpdate = 'system.update',
  SystemDelete = 'system.delete',
  ConnectionTest = 'connection.test',
  ToolsSync = 'tools.sync',
  ToolSwitch = 'tool.switch',
  /** A tool is about to be called by hand. */
  ToolCallBegin = 'tool.call-begin',
  /** A tool was called by hand. */
  ToolCall = 'tool.call',
  /** A caller without the permission used the MCP endpoint of an application. Permitted calls are `tool.call`. */
  EndpointUse = 'endpoint.use',
  PackageStore = 'package.store',
  WorkflowNodeCreate = 'workflow-node.create',
  WorkflowNodeUpdate = 'workflow-node.update',
  WorkflowNodeDelete = 'workflow-node.delete',
  VersionCommit = 'version.commit',
  BuildCreate = 'build.create',
  BuildActivate = 'build.activate',
  BuildWithdraw = 'build.withdraw',
  WorkflowTest = 'workflow.test',
  /** An application used a build of a library or was denied it. Recorded for the library. */
  LibraryUse = 'library.use',
  /** Operations on a process instance. Recorded for the version of its build. */
  ProcessHold = 'process.hold',
  ProcessRelease = 'process.release',
  ProcessTerminate = 'process.terminate',
  ProcessRetry = 'process.retry',
}

/** Outcome of an action. `denied`: a permission is missing; `timeout`: an external party did not answer in time. */
export enum AuditOutcome {
  Ok = 'ok',
  Denied = 'denied',
  Error = 'error',
  Timeout = 'timeout',
}

/** Filter and page of audit events. All given conditions must hold. */
export interface AuditQuery extends PageQuery, TimeRange {
  appId: string;
  appVersionId?: string | undefined;
  systemResourceId?: string;
  action?: AuditAction;
  outcome?: AuditOutcome;
  /** `sub` of the token. */
  actor?: string;
}
