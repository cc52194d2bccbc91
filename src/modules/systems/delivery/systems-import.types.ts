import type { PackageSystem } from '../../packages/model/package.types.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** What a delivery did to the systems of a version, by resource name. */
export interface SystemsImport {
  added: string[];
  changed: string[];
  removed: string[];
  /** Systems whose stored secret was deleted, because their connection now leads elsewhere. */
  secretsDropped: string[];
  /** Service accounts without a secret: it has to be set before the connection can be used. */
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
  | 'connectionKey'
>;

export type { PackageSystem };
