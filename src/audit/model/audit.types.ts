import type { PageQuery } from '../../platform/validation/page.js';
import type { TimeRange } from '../../store/tables/conditions.js';

/** What was done, named `<thing>.<verb>`. */
export enum AuditAction {
  SystemCreate = 'system.create',
  SystemUpdate = 'system.update',
  SystemDelete = 'system.delete',
  ConnectionTest = 'connection.test',
  ToolsSync = 'tools.sync',
  ToolSwitch = 'tool.switch',
  /** A person is about to call a tool. */
  ToolCallBegin = 'tool.call-begin',
  /** What came of it. */
  ToolCall = 'tool.call',
  PackageStore = 'package.store',
  WorkflowNodeCreate = 'workflow-node.create',
  WorkflowNodeUpdate = 'workflow-node.update',
  WorkflowNodeDelete = 'workflow-node.delete',
  VersionCommit = 'version.commit',
  BuildCreate = 'build.create',
  BuildActivate = 'build.activate',
  BuildWithdraw = 'build.withdraw',
  WorkflowTest = 'workflow.test',
  /** An application uses a build of a library, or was refused to; told to the library. */
  LibraryUse = 'library.use',
  /** What operators do to a process instance; told to the version of its build. */
  ProcessHold = 'process.hold',
  ProcessRelease = 'process.release',
  ProcessTerminate = 'process.terminate',
  ProcessRetry = 'process.retry',
}

/** How it ended. `denied` is a missing permission, `timeout` an outside party that did not answer in time. */
export enum AuditOutcome {
  Ok = 'ok',
  Denied = 'denied',
  Error = 'error',
  Timeout = 'timeout',
}

/** Which events of an application, and how many of them in a page; all that is given must hold. */
export interface AuditQuery extends PageQuery, TimeRange {
  appId: string;
  appVersionId?: string | undefined;
  systemResourceId?: string;
  action?: AuditAction;
  outcome?: AuditOutcome;
  /** `sub` of the token. */
  actor?: string;
}
