/** A component as a configuration file names it (schemas/platform.schema.json). */
export interface DeclaredPeer {
  key: string;
  kind: string;
  endpoint: string;
  username?: string;
  password?: string;
  timeoutMs?: number;
  options?: object;
}
