/** Kinds of system (interface contract, "MCP system", field `type`). */
export enum SystemType {
  Rest = 'REST',
  NoSqlDb = 'NOSQL_DB',
  Mcp = 'MCP',
}

/** How an MCP server is reached (interface contract, "Authorization object"). */
export enum AuthorizationType {
  NoAuth = 'NO_AUTH',
  ServiceAccount = 'SERVICE_ACCOUNT',
}
