/** The rights that routes ask for. Which claims of a token grant one is configuration (PERMISSION_RULES). */
export enum Permission {
  /** Every operation on MCP systems and their tools (interface contract, "Authentication", 3). */
  IntegrationManagement = 'integration-management',
}
