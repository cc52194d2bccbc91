/** Permissions that routes require. PERMISSION_RULES configures which claims of a token grant them. */
export enum Permission {
  /** Every operation on MCP systems and their tools (docs/contract.md, section 1). */
  IntegrationManagement = 'integration-management',
  /** Storing packages, committing versions, making and activating builds (docs/contract.md, section 6). */
  ApplicationDelivery = 'application-delivery',
  /** Reading process instances and workflow runs, which hold personal data (extension of the contract). */
  ProcessRead = 'process-read',
  /** Holding, releasing, terminating and retrying process instances. */
  ProcessAdministration = 'process-administration',
  /** Correcting process data with a retry, in instances that the caller may read. */
  ProcessData = 'process-data',
  /** Starting workflows by hand (extension of the contract). */
  WorkflowTest = 'workflow-test',
  /** Calling tools by hand, if the deployment allows it (extension of the contract). */
  ToolCall = 'tool-call',
  /** Using the tools of an application through its MCP endpoint (extension of the contract). */
  ToolUse = 'tool-use',
}
