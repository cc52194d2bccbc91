import {
  Body,
  Controller,
  HttpCode,
  HttpStatus,
  Param,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ConfiguredPermission } from '../../../common/auth/configured-permission.decorator.js';
import { ConfiguredPermissionGuard } from '../../../common/auth/configured-permission.guard.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { RequestHeader } from '../../../common/http/request-header.decorator.js';
import { BuildProcessParams, definitionOf } from '../../builds/model/build.params.dto.js';
import { ApiIdempotencyKey } from '../model/idempotency-key.decorator.js';
import { START_BODY_EXAMPLES, START_EXAMPLE, START_RESPONSE_HEADERS } from './start.examples.js';
import { ProcessErrorResponseDto, STOPPED } from '../model/stopped.response.dto.js';
import { StartProcessResponseDto } from '../model/start.response.dto.js';
import { ProcessStartService } from './process-start.service.js';
import { StartHeadersInterceptor } from './start-headers.interceptor.js';
import { StartPathGuard } from './start-path.guard.js';

/** Starts processes (docs/contract.md, section 4.1). */
@ApiTags('Processes')
@ApiBearerAuth('bearer')
@ApiExtraModels(ProcessErrorResponseDto)
@Controller('rtm/api/runtime/app/:appId/build/:buildId/process-name')
export class ProcessStartController {
  constructor(private readonly processes: ProcessStartService) {}

  @Post(':processDefinitionName/start')
  @HttpCode(HttpStatus.OK)
  @ConfiguredPermission('PROCESS_START_PERMISSION')
  @UseGuards(ConfiguredPermissionGuard, StartPathGuard)
  @UseInterceptors(StartHeadersInterceptor)
  @ApiOperation({
    operationId: 'startProcess',
    summary: 'Start a process',
    description:
      'Starts an instance of a process of a build and runs it to its first wait states. The members of the body become process ' +
      'data; they must match the input schema of the process. The reserved member `startCondition` picks the start event where ' +
      'there are several. Any valid token will do, unless the deployment asks for a permission (`PROCESS_START_PERMISSION`) or ' +
      'the start event stands in a lane that names some. A process that stops at once is stored as `CREATED`, without tokens, and ' +
      'answered with 409, or with 400 where data is missing: `incident` names the instance and tells why. A call that is answered ' +
      'with any other error has stored nothing.',
  })
  @ApiHeader({
    name: 'svc-platform',
    required: true,
    description: 'Platform of the client; it is stored with the instance.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$', example: 'web' },
  })
  @ApiIdempotencyKey()
  @ApiBody({
    required: false,
    description: 'Data of the process; without a body there is none.',
    schema: { type: 'object', additionalProperties: true },
    examples: START_BODY_EXAMPLES,
  })
  @ApiOkResponse({
    type: StartProcessResponseDto,
    example: START_EXAMPLE,
    headers: START_RESPONSE_HEADERS,
    description: 'The instance, where it stands now.',
  })
  @ApiErrors(
    {
      400: {
        message: 'Some mandatory params are missing.',
        details: 'client',
        type: ProcessErrorResponseDto,
      },
    },
    { 403: 'Insufficient permissions to act in this lane of the process' },
    { 404: 'Process definition not found.' },
    { 409: STOPPED },
  )
  async start(
    @CurrentPrincipal() principal: Principal,
    @Param() params: BuildProcessParams,
    @Body() body: Record<string, unknown>,
    @RequestHeader('svc-platform') platform: string | undefined,
    @RequestHeader('Idempotency-Key') idempotencyKey: string | undefined,
  ): Promise<StartProcessResponseDto> {
    return this.processes.start(principal, definitionOf(params), { body, platform, idempotencyKey });
  }
}
