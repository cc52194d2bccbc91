import { Injectable } from '@nestjs/common';
import type { FindOptionsWhere } from 'typeorm';
import { Database } from '../../store/database.js';
import type { TlsMaterial } from '../../platform/tls/tls-material.js';
import type { SystemCredentials } from '../mcp-connection/model/connection-test.types.js';
import { eachSecret, SystemSecrets } from '../secrets/system-secrets.js';
import { accountOptionsOf, apiKeyOptionsOf, openedHeaders } from '../model/connection.js';
import {
  AuthorizationType,
  type Connection,
  type SystemKey,
  SystemType,
  type SystemTls,
} from '../model/system.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import { SystemEntity } from '../storage/system.entity.js';

/** Connection of a system with its secret. Use it only for the next call. */
export interface OpenedConnection {
  readonly baseUrl: string;
  readonly credentials: SystemCredentials;
  /** Certificates for its sockets. */
  readonly tls?: TlsMaterial;
  /** Deadline of one tool call in milliseconds; absent for the default of the deployment. */
  readonly timeoutMs?: number;
}

/** Reads connections of systems with their secrets, for calls. Call it outside transactions. */
@Injectable()
export class SystemConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly secrets: SystemSecrets,
  ) {}

  /** Returns the current connection of a system; null when it is gone or has no address. @throws SecretUnreadableError */
  async byId(id: string): Promise<OpenedConnection | null> {
    const system = await this.opened({ id });
    return (
      system && {
        baseUrl: system.baseUrl,
        credentials: credentialsOf(system),
        tls: tlsPart(system.appId, system),
        ...(system.timeoutMs !== null && { timeoutMs: system.timeoutMs }),
      }
    );
  }

  /** Returns the stored connection of an MCP system with its secrets. @throws SystemNotFoundError, SecretUnreadableError */
  async ofSystem({ appId, appVersionId, resourceId }: SystemKey): Promise<Connection> {
    const system = await this.opened({ appId, appVersionId, resourceId, type: SystemType.Mcp });
    if (system === null) {
      throw new SystemNotFoundError();
    }
    return { ...system, authorizationType: system.authorizationType ?? AuthorizationType.NoAuth };
  }

  private async opened(
    where: FindOptionsWhere<SystemEntity>,
  ): Promise<(SystemEntity & { baseUrl: string }) | null> {
    const system = await this.database.read((manager) => manager.findOneBy(SystemEntity, where));
    if (system === null || system.baseUrl === null) {
      return null;
    }
    const opened = eachSecret((name) => {
      const sealed = system[name];
      return sealed === null ? null : this.secrets.open(system, sealed, name);
    });
    return { ...system, ...opened, baseUrl: system.baseUrl };
  }
}

/** Columns of credentials with the secret in plain text. */
type OpenedCredentials = Omit<Connection, 'baseUrl' | 'authorizationType' | keyof SystemTls> & {
  authorizationType: AuthorizationType | null;
};

/** Converts columns to credentials for calls. */
export function credentialsOf(connection: OpenedCredentials): SystemCredentials {
  const headers = openedHeaders(connection);
  return { ...authorizationOf(connection), ...(headers && { headers }) };
}

function authorizationOf(connection: OpenedCredentials): SystemCredentials {
  const { clientId, clientSecret, identityProviderUrl, authorizationType } = connection;
  const secret = clientSecret ?? '';
  const apiKey = apiKeyOptionsOf(connection);
  if (apiKey !== null) {
    return { type: 'API_KEY', headerName: apiKey.headerName, scheme: apiKey.scheme, apiKey: secret };
  }
  if (authorizationType !== AuthorizationType.ServiceAccount) {
    return { type: 'NO_AUTH' };
  }
  const { key, scope, tokenParameters } = accountOptionsOf(connection);
  return {
    type: 'SERVICE_ACCOUNT',
    clientId: clientId ?? '',
    tokenUrl: identityProviderUrl ?? '',
    ...(scope !== null && { scope }),
    ...(tokenParameters && { tokenParameters }),
    ...(key === null ? { clientSecret: secret } : { privateKey: secret, ...key }),
  };
}

/** Returns the certificates for sockets of a system. Omits a client certificate without its key. */
export function tlsPart(
  app: string,
  { caCertificates, clientCertificate, clientKey }: SystemTls,
): TlsMaterial {
  return {
    app,
    ...(caCertificates === null ? {} : { ca: caCertificates }),
    ...(clientCertificate === null || clientKey === null ? {} : { cert: clientCertificate, key: clientKey }),
  };
}
