import { Controller, HttpCode, HttpStatus, Param, Post } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { ProcessErrorResponseDto, STOPPED } from '../model/stopped.response.dto.js';
import { InstanceOperationDto, InstanceRetryDto } from './instance-operation.dto.js';
import { OPERATION_EXAMPLE, RETRY_EXAMPLE } from '../reading/instance.examples.js';
import { InstanceParams, InstanceTokenParams } from '../reading/instance.params.dto.js';
import { InstanceOperationsService } from './instance-operations.service.js';
import { InstanceRetriesService } from './instance-retries.service.js';

const DENIED = { 403: 'Insufficient permissions to administer processes' };
const NOT_FOUND = { 404: 'Process instance not found.' };
const NOT_RUNNING = { 409: 'The process instance is not running.' };

/** What operators do to process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiExtraModels(ProcessErrorResponseDto)
@RequirePermission(Permission.ProcessAdministration)
@Controller('rtm/api/runtime/process-instance/:uuid')
export class InstanceOperationsController {
  constructor(
    private readonly operations: InstanceOperationsService,
    private readonly retries: InstanceRetriesService,
  ) {}

  @Post('hold')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.ProcessHold)
  @ApiOperation({
    operationId: 'holdProcessInstance',
    summary: 'Put a process instance on hold',
    description:
      'Extension of the contract. UI actions are refused until it is released, and background work that comes due waits.',
  })
  @ApiOkResponse({
    type: InstanceOperationDto,
    example: { ...OPERATION_EXAMPLE, state: 'ONHOLD' },
    description: 'It is on hold.',
  })
  @ApiErrors(400, DENIED, NOT_FOUND, NOT_RUNNING)
  async hold(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.hold(principal, uuid);
  }

  @Post('release')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.ProcessRelease)
  @ApiOperation({
    operationId: 'releaseProcessInstance',
    summary: 'Release a process instance that is on hold',
    description: 'Extension of the contract. What came due meanwhile runs now.',
  })
  @ApiOkResponse({ type: InstanceOperationDto, example: OPERATION_EXAMPLE, description: 'It goes on.' })
  @ApiErrors(400, DENIED, NOT_FOUND, { 409: 'The process instance is not on hold.' })
  async release(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.release(principal, uuid);
  }

  @Post('terminate')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.ProcessTerminate)
  @ApiOperation({
    operationId: 'terminateProcessInstance',
    summary: 'Terminate a process instance',
    description:
      'Extension of the contract. Ends an instance that is running, on hold or could not start for good, and in the background the processes that ' +
      'it started. A process that waits for it takes this as an error: without an error boundary event there is an incident.',
  })
  @ApiOkResponse({
    type: InstanceOperationDto,
    example: { ...OPERATION_EXAMPLE, state: 'TERMINATED' },
    description: 'It has ended.',
  })
  @ApiErrors(400, DENIED, NOT_FOUND, NOT_RUNNING)
  async terminate(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceOperationDto> {
    return this.operations.terminate(principal, uuid);
  }

  @Post('token/:tokenUuid/retry')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.ProcessRetry)
  @ApiOperation({
    operationId: 'retryToken',
    summary: 'Retry what stopped a token',
    description:
      'Extension of the contract. Runs the background work again whose failure stopped the token where it stands now, workflows and ' +
      'calls with the process data of now, and closes the incidents. 409 when nothing stopped it, or a UI action did: that can ' +
      'be executed again. 409 also when it stops again at once: the incident stays open, and `incident` tells why.',
  })
  @ApiOkResponse({ type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'It is under way.' })
  @ApiErrors(400, DENIED, { 404: 'Token not found for this process instance.' }, { 409: STOPPED })
  async retry(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid, tokenUuid }: InstanceTokenParams,
  ): Promise<InstanceRetryDto> {
    return this.retries.retry(principal, { uuid, tokenUuid });
  }

  @Post('retry')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.ProcessRetry)
  @ApiOperation({
    operationId: 'retryProcessInstance',
    summary: 'Retry what stopped a process instance as a whole',
    description:
      'Extension of the contract. Runs the background work again whose incidents name no token, such as a call that nobody waits ' +
      'for, and closes them; calls are made with the process data of now while the instance is running. One that could not start ' +
      '(CREATED) starts again, with the data that it was given. What stopped a token is retried with that token. 409 when nothing stopped, or the state of the instance does not allow it, or it stops again ' +
      'at once: the incident stays open, and `incident` tells why.',
  })
  @ApiOkResponse({ type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'It is under way.' })
  @ApiErrors(400, DENIED, NOT_FOUND, { 409: STOPPED })
  async retryInstance(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceRetryDto> {
    return this.retries.retry(principal, { uuid, tokenUuid: null });
  }
}
