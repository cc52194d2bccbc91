import { Injectable } from '@nestjs/common';
import type { IfMatch } from '../../platform/http/conditional-requests.js';
import type { Principal } from '../../platform/user/principal.js';
import { Database } from '../../store/database.js';
import { AppsService } from '../../apps/apps.service.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { accountOptionsOf, accountText, connectionKeyOf, headerColumns } from '../model/connection.js';
import { AuthorizationType, type SystemKey, type SystemTls } from '../model/system.types.js';
import { SystemSecrets } from '../secrets/system-secrets.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { SystemsRepository } from '../storage/systems.repository.js';
import { replacedSecret, type ReplaceSecretRequestDto } from './system.request.dto.js';
import { sentProof } from '../model/authorization.request.dto.js';
import { NoApiKeyError, NoServiceAccountError, OtherHeadersError } from '../model/systems.errors.js';
import { eventOf, found, SystemsService } from './systems.service.js';

/** Replaces credentials of systems of all types, even in committed versions, because credentials expire. */
@Injectable()
export class SystemCredentialsService {
  constructor(
    private readonly database: Database,
    private readonly repository: SystemsRepository,
    private readonly systems: SystemsService,
    private readonly apps: AppsService,
    private readonly secrets: SystemSecrets,
    private readonly audit: AuditService,
  ) {}

  /**
   * Sets the secret of a system of any type, even in a committed version, because it is not part of the definition.
   * @throws SystemNotFoundError, ValidationFailedError, NoServiceAccountError, NoApiKeyError, OtherHeadersError,
   * ChangedMeanwhileError
   */
  async replaceSecret(
    principal: Principal,
    key: SystemKey,
    request: ReplaceSecretRequestDto,
    ifMatch?: IfMatch,
  ): Promise<SystemEntity> {
    return this.replaceCredential(principal, { key, ifMatch }, [replacedSecret(request)], (system) =>
      withSecret(system, request, this.secrets),
    );
  }

  /** Sets the client certificate and its key, like `replaceSecret`. @throws SystemNotFoundError, ChangedMeanwhileError */
  async replaceCertificate(
    principal: Principal,
    key: SystemKey,
    tls: SystemTls,
    ifMatch?: IfMatch,
  ): Promise<SystemEntity> {
    return this.replaceCredential(
      principal,
      { key, ifMatch },
      ['clientCertificate', 'clientKey'],
      (system) => {
        const next = { ...system, clientCertificate: tls.clientCertificate };
        const clientKey = this.secrets.seal(next, tls.clientKey ?? '', 'clientKey');
        return { ...next, clientKey, connectionKey: connectionKeyOf(next) };
      },
    );
  }

  private async replaceCredential(
    principal: Principal,
    { key, ifMatch }: { key: SystemKey; ifMatch: IfMatch | undefined },
    fields: string[],
    replaced: (system: SystemEntity) => SystemEntity,
  ): Promise<SystemEntity> {
    return this.database.write(async (manager) => {
      await this.apps.isWritable(manager, key);
      const next = replaced(found(await this.repository.lockAny(manager, key)));
      await this.systems.demandMatch(manager, key, ifMatch);
      await this.systems.save(manager, principal, next);
      await this.audit.record(manager, principal, eventOf(AuditAction.SystemUpdate, next, { fields }));
      return next;
    });
  }
}

/** Replaces a secret. @throws NoServiceAccountError, NoApiKeyError, OtherHeadersError when the system has no such secret */
function withSecret(
  system: SystemEntity,
  request: ReplaceSecretRequestDto,
  secrets: SystemSecrets,
): SystemEntity {
  const { authorizationType: type } = system;
  if (request.headers) {
    return withHeaders(system, request.headers, secrets);
  }
  if (request.apiKey !== undefined) {
    if (type !== AuthorizationType.ApiKey) {
      throw new NoApiKeyError();
    }
    return { ...system, clientSecret: secrets.seal(system, request.apiKey) };
  }
  if (type !== AuthorizationType.ServiceAccount) {
    throw new NoServiceAccountError();
  }
  const { secret = '', key } = sentProof(request);
  const next = { ...system, credentialOptions: accountText({ ...accountOptionsOf(system), key }) };
  return { ...next, connectionKey: connectionKeyOf(next), clientSecret: secrets.seal(next, secret) };
}

/** Replaces the values of headers. Their names are part of the definition, so they must stay the same. */
function withHeaders(
  system: SystemEntity,
  sent: Record<string, string>,
  secrets: SystemSecrets,
): SystemEntity {
  const { headers, headerNames } = headerColumns(sent);
  if (headers === null || headerNames !== system.headerNames) {
    throw new OtherHeadersError();
  }
  return { ...system, headers: secrets.seal(system, headers, 'headers') };
}
