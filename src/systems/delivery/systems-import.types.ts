import type { CredentialConfiguration } from '../model/connection.js';
import type { AuthorizationType, SystemType } from '../model/system.types.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** A system as a package describes it. */
export type DeliveredSystem = {
  readonly resourceName: string;
  readonly name: string;
  readonly description: string;
  /** How it is reached; the secret never comes with a package. */
  readonly authorization: {
    readonly type: AuthorizationType;
    readonly configuration?: CredentialConfiguration;
  };
  /** Authorities of its own, PEM in the one form that is stored; null: the built-in ones. What is stored stays where a package says nothing. */
  readonly tls?: { readonly caCertificates: string } | null | undefined;
  /** Names of static headers, whose values never come with a package. What is stored stays where a package says nothing. */
  readonly headers?: readonly string[] | undefined;
  /** Null for the deadline of the deployment. What is stored stays where a package says nothing. */
  readonly timeoutMs?: number | null | undefined;
} & (
  | { readonly type: SystemType.Mcp | SystemType.Rest; readonly baseUrl: string }
  | { readonly type: SystemType.NoSqlDb; readonly baseUrl: string | null }
);

/** What a delivery did to the systems of a version, by resource name. */
export interface SystemsImport {
  added: string[];
  changed: string[];
  removed: string[];
  /** Systems whose stored secret was deleted, because their connection now leads elsewhere. */
  secretsDropped: string[];
  /** Systems without the secret that they need: it has to be set before the connection can be used. */
  secretsMissing: string[];
}

/** What a package says of a system, in the columns of its row. */
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
