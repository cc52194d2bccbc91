import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { TlsMaterial } from '../../../common/tls/tls-material.js';
import type { SystemCredentials } from '../../mcp-connection/model/connection-test.types.js';
import { type SecretName, SystemSecrets } from '../secrets/system-secrets.js';
import { apiKeyOptionsOf, privateKeyOptionsOf } from '../model/credential-options.js';
import { AuthorizationType, type Connection, type SystemTls } from '../model/system.types.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** How a system is reached: with its secret, so only for the call that is about to be made. */
export interface OpenedConnection {
  readonly baseUrl: string;
  readonly credentials: SystemCredentials;
  /** What it adds to TLS. */
  readonly tls?: TlsMaterial;
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
   * @throws SecretUnreadableError when one of its secrets cannot be opened
   */
  async byId(id: string): Promise<OpenedConnection | null> {
    const system = await this.database.read((manager) => this.systems.connectionById(manager, id));
    if (system === null || system.baseUrl === null) {
      return null;
    }
    const opened = (name: SecretName): string | null => {
      const sealed = system[name];
      return sealed === null ? null : this.secrets.open({ ...system, id }, sealed, name);
    };
    const connection = {
      ...system,
      clientSecret: opened('clientSecret'),
      clientKey: opened('clientKey'),
    };
    return { baseUrl: system.baseUrl, credentials: credentialsOf(connection), ...tlsPart(connection) };
  }
}

/** Credentials as calls take them. */
export function credentialsOf(
  connection: Omit<Connection, 'baseUrl' | 'authorizationType' | keyof SystemTls> & {
    authorizationType: AuthorizationType | null;
  },
): SystemCredentials {
  const { authorizationType, clientId, clientSecret, identityProviderUrl } = connection;
  const apiKey = apiKeyOptionsOf(connection);
  if (apiKey !== null) {
    return {
      type: 'API_KEY',
      headerName: apiKey.headerName,
      scheme: apiKey.scheme,
      apiKey: clientSecret ?? '',
    };
  }
  if (authorizationType !== AuthorizationType.ServiceAccount) {
    return { type: 'NO_AUTH' };
  }
  const key = privateKeyOptionsOf(connection);
  return {
    type: 'SERVICE_ACCOUNT',
    clientId: clientId ?? '',
    tokenUrl: identityProviderUrl ?? '',
    ...(key === null
      ? { clientSecret: clientSecret ?? '' }
      : { privateKey: clientSecret ?? '', algorithm: key.algorithm, keyId: key.keyId }),
  };
}

/** What a connection adds to TLS, as calls take it: nothing without certificates. A certificate is of no use without its key. */
export function tlsPart({ caCertificates, clientCertificate, clientKey }: SystemTls): { tls?: TlsMaterial } {
  const tls = {
    ...(caCertificates === null ? {} : { ca: caCertificates }),
    ...(clientCertificate === null || clientKey === null ? {} : { cert: clientCertificate, key: clientKey }),
  };
  return Object.keys(tls).length === 0 ? {} : { tls };
}
