/** What was done, named `<thing>.<verb>`. */
export enum AuditAction {
  SystemCreate = 'system.create',
  SystemUpdate = 'system.update',
  SystemDelete = 'system.delete',
  ConnectionTest = 'connection.test',
  ToolsSync = 'tools.sync',
  ToolEnable = 'tool.enable',
  ToolDisable = 'tool.disable',
}

/** How it ended. `denied` is a missing permission, `timeout` an outside party that did not answer in time. */
export enum AuditOutcome {
  Ok = 'ok',
  Denied = 'denied',
  Error = 'error',
  Timeout = 'timeout',
}
