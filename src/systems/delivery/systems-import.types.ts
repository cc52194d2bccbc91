import type { CredentialConfiguration } from '../model/connection.js';
import type { AuthorizationType, SystemType } from '../model/system.types.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** A system in a package. */
export type DeliveredSystem = {
  readonly resourceName: string;
  readonly name: string;
  readonly description: string;
  /** Authorization without its secret, which packages never contain. */
  readonly authorization: {
    readonly type: AuthorizationType;
    readonly configuration?: CredentialConfiguration;
  };
  /** Own authorities as canonical PEM; null for the built-in ones. Absent keeps the stored value. */
  readonly tls?: { readonly caCertificates: string } | null | undefined;
  /** Names of static headers, whose values packages never contain. Absent keeps the stored names. */
  readonly headers?: readonly string[] | undefined;
  /** Null for the deadline of the deployment. Absent keeps the stored value. */
  readonly timeoutMs?: number | null | undefined;
} & (
  | { readonly type: SystemType.Mcp | SystemType.Rest; readonly baseUrl: string }
  | { readonly type: SystemType.NoSqlDb; readonly baseUrl: string | null }
);

/** Changes of a delivery in the systems of a version, as resource names. */
export interface SystemsImport {
  added: string[];
  changed: string[];
  removed: string[];
  /** Systems whose stored secret was deleted because the destination of their connection changed. */
  secretsDropped: string[];
  /** Systems without a required secret, which must be set before the connection can be used. */
  secretsMissing: string[];
}

/** Columns of a system that a package sets. */
export type DeliveredColumns = Pick<
  SystemEntity,
  | 'type'
  | 'resourceName'
  | 'name'
  | 'description'
  | 'baseUrl'
  | 'authorizationType'
  | 'clientId'
  | 'identityProviderUrl'
  | 'credentialOptions'
> &
  Partial<Pick<SystemEntity, 'caCertificates' | 'headerNames' | 'timeoutMs'>>;
