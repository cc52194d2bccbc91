import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import type { TlsMaterial } from '../../../common/tls/tls-material.js';
import type { ServiceAccount, SystemCredentials } from '../../mcp-connection/model/connection-test.types.js';
import { type SecretName, SystemSecrets } from '../secrets/system-secrets.js';
import { accountOptionsOf, apiKeyOptionsOf, openedHeaders } from '../model/connection.js';
import { AuthorizationType, type Connection, type SystemKey, type SystemTls } from '../model/system.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** How a system is reached: with its secret, so only for the call that is about to be made. */
export interface OpenedConnection {
  readonly baseUrl: string;
  readonly credentials: SystemCredentials;
  /** What its sockets are opened with. */
  readonly tls?: TlsMaterial;
  /** Deadline of one tool call in milliseconds; absent for that of the deployment. */
  readonly timeoutMs?: number;
}

/** Opens the connections of systems for those who call them. Not inside of a transaction. */
@Injectable()
export class SystemConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly systems: SystemsRepository,
    private readonly secrets: SystemSecrets,
  ) {}

  /** How a system is reached now; null when it is gone or has no address. @throws SecretUnreadableError */
  async byId(id: string): Promise<OpenedConnection | null> {
    const connection = await this.database.read((manager) => this.opened(manager, id));
    if (connection === null || connection.baseUrl === null) {
      return null;
    }
    const { baseUrl, timeoutMs } = connection;
    return {
      baseUrl,
      credentials: credentialsOf(connection),
      tls: tlsPart(connection.appId, connection),
      ...(timeoutMs !== null && { timeoutMs }),
    };
  }

  /** An MCP system as it is stored, with its secrets. @throws SystemNotFoundError, SecretUnreadableError */
  async ofSystem(key: SystemKey): Promise<Connection> {
    const connection = await this.database.read(async (manager) => {
      const id = await this.systems.idOf(manager, key);
      return id === null ? null : this.opened(manager, id);
    });
    if (connection === null || connection.baseUrl === null) {
      throw new SystemNotFoundError();
    }
    const { baseUrl, authorizationType, appId: _appId, timeoutMs: _ofCalls, ...others } = connection;
    return { ...others, baseUrl, authorizationType: authorizationType ?? AuthorizationType.NoAuth };
  }

  private async opened(
    manager: EntityManager,
    id: string,
  ): Promise<Awaited<ReturnType<SystemsRepository['connectionById']>>> {
    const system = await this.systems.connectionById(manager, id);
    if (system === null) {
      return null;
    }
    const opened = (name: SecretName): string | null => {
      const sealed = system[name];
      return sealed === null ? null : this.secrets.open({ ...system, id }, sealed, name);
    };
    return {
      ...system,
      clientSecret: opened('clientSecret'),
      clientKey: opened('clientKey'),
      headers: opened('headers'),
    };
  }
}

/** The columns of credentials, with the secret opened. */
type OpenedCredentials = Omit<Connection, 'baseUrl' | 'authorizationType' | keyof SystemTls> & {
  authorizationType: AuthorizationType | null;
};

/** Credentials as calls take them. */
export function credentialsOf(connection: OpenedCredentials): SystemCredentials {
  const headers = openedHeaders(connection);
  return { ...authorizationOf(connection), ...(headers && { headers }) };
}

function authorizationOf(connection: OpenedCredentials): SystemCredentials {
  const apiKey = apiKeyOptionsOf(connection);
  if (apiKey !== null) {
    const { headerName, scheme } = apiKey;
    return { type: 'API_KEY', headerName, scheme, apiKey: connection.clientSecret ?? '' };
  }
  return connection.authorizationType === AuthorizationType.ServiceAccount
    ? accountOf(connection)
    : { type: 'NO_AUTH' };
}

function accountOf(connection: OpenedCredentials): ServiceAccount {
  const { clientId, clientSecret: secret, identityProviderUrl } = connection;
  const { key, scope, tokenParameters } = accountOptionsOf(connection);
  return {
    type: 'SERVICE_ACCOUNT',
    clientId: clientId ?? '',
    tokenUrl: identityProviderUrl ?? '',
    ...(scope !== null && { scope }),
    ...(tokenParameters && { tokenParameters }),
    ...(key === null ? { clientSecret: secret ?? '' } : { privateKey: secret ?? '', ...key }),
  };
}

/** For sockets of a system of this application. A certificate is of no use without its key. */
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
