import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { SystemCredentials } from '../../mcp-connection/model/connection-test.types.js';
import { SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, type Connection } from '../model/system.types.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** How a system is reached: with its secret, so only for the call that is about to be made. */
export interface OpenedConnection {
  readonly baseUrl: string;
  readonly credentials: SystemCredentials;
}

/** Opens the connections of systems for those who call them. Not inside of a transaction. */
@Injectable()
export class SystemConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly systems: SystemsRepository,
    private readonly secrets: SystemSecrets,
  ) {}

  /**
   * How a system is reached at this moment; null when it is gone or has no address.
   * @throws SecretUnreadableError when its secret cannot be opened
   */
  async byId(id: string): Promise<OpenedConnection | null> {
    const system = await this.database.read((manager) => this.systems.connectionById(manager, id));
    if (system === null || system.baseUrl === null) {
      return null;
    }
    const { clientSecret: sealed } = system;
    const clientSecret = sealed === null ? null : this.secrets.open({ ...system, id }, sealed);
    const { baseUrl } = system;
    return { baseUrl, credentials: credentialsOf({ ...system, clientSecret }) };
  }
}

/** Credentials as calls take them. */
export function credentialsOf(
  connection: Omit<Connection, 'baseUrl' | 'authorizationType'> & {
    authorizationType: AuthorizationType | null;
  },
): SystemCredentials {
  const { authorizationType, clientId, clientSecret, identityProviderUrl } = connection;
  if (authorizationType !== AuthorizationType.ServiceAccount) {
    return { type: 'NO_AUTH' };
  }
  return {
    type: 'SERVICE_ACCOUNT',
    clientId: clientId ?? '',
    clientSecret: clientSecret ?? '',
    tokenUrl: identityProviderUrl ?? '',
  };
}
