import { Injectable } from '@nestjs/common';
import type { IfMatch } from '../../../common/http/conditional-requests.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { AppsService } from '../../apps/apps.service.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { connectionKeyOf } from '../model/connection.js';
import type { SystemKey, SystemTls } from '../model/system.types.js';
import { SystemSecrets } from '../secrets/system-secrets.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { SystemsRepository } from '../storage/systems.repository.js';
import type { ReplaceSecretRequestDto } from './client-secret.dto.js';
import { replacedSecret, withSecret } from './secret-replacement.js';
import { eventOf, found } from './system-event.js';
import { SystemsService } from './systems.service.js';

/** Credentials of systems of all types, which end and are replaced in committed versions too. */
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
   * Sets the secret of a system of any type, of a committed version too: it is no part of its definition.
   * @param ifMatch entity tags of the system as the caller may have read it
   * @throws SystemNotFoundError
   * @throws ValidationFailedError, NoServiceAccountError, NoApiKeyError, OtherHeadersError, ChangedMeanwhileError
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

  /**
   * Sets the client certificate and its key, as `replaceSecret` does: certificates end.
   * @param tls a certificate with its key
   * @throws SystemNotFoundError, ChangedMeanwhileError
   */
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
