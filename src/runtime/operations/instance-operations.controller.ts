import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { InstanceOperationDto, InstanceRetryDto, readRetryBody } from './instance-operation.dto.js';
import { InstanceParams, InstanceTokenParams } from '../model/instance.params.dto.js';
import { InstanceOperationsService } from './instance-operations.service.js';
import { InstanceRetriesService } from './instance-retries.service.js';
import { InstanceOperationsApi } from './instance-operations.api.js';

/** Operations on process instances (extension of the contract). */
@ApiTags('Process instances')
@RequirePermission(Permission.ProcessAdministration)
@Controller('rtm/api/runtime/process-instance/:uuid')
export class InstanceOperationsController {
  constructor(
    private readonly operations: InstanceOperationsService,
    private readonly retries: InstanceRetriesService,
  ) {}

  @Post('hold')
  @Audited(AuditAction.ProcessHold)
  @InstanceOperationsApi.holdProcessInstance
  async hold(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.operate(principal, uuid, 'hold');
  }

  @Post('release')
  @Audited(AuditAction.ProcessRelease)
  @InstanceOperationsApi.releaseProcessInstance
  async release(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.operate(principal, uuid, 'release');
  }

  @Post('terminate')
  @Audited(AuditAction.ProcessTerminate)
  @InstanceOperationsApi.terminateProcessInstance
  async terminate(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.operate(principal, uuid, 'terminate');
  }

  @Post('token/:tokenUuid/retry')
  @Audited(AuditAction.ProcessRetry)
  @InstanceOperationsApi.retryToken
  async retry(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid, tokenUuid }: InstanceTokenParams,
    @Body() body: Record<string, unknown>,
  ): Promise<InstanceRetryDto> {
    return this.retries.retry(principal, { uuid, tokenUuid }, readRetryBody(body));
  }

  @Post('retry')
  @Audited(AuditAction.ProcessRetry)
  @InstanceOperationsApi.retryProcessInstance
  async retryInstance(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
    @Body() body: Record<string, unknown>,
  ): Promise<InstanceRetryDto> {
    return this.retries.retry(principal, { uuid, tokenUuid: null }, readRetryBody(body));
  }
}
