import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { BuildParams, DeliveryParams, versionOf } from '../../builds/model/build.params.dto.js';
import { PreflightResponseDto, toPreflight } from './preflight.dto.js';
import { BUILD_PREFLIGHT_EXAMPLE, PREFLIGHT_EXAMPLE } from './preflight.examples.js';
import { PreflightService } from './preflight.service.js';

const DENIED = { 403: 'Insufficient permissions to deliver applications' };

/** What the agents of an application may use, before they run (extension of the contract). */
@ApiTags('Workflows')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class PreflightController {
  constructor(private readonly preflight: PreflightService) {}

  @Get('app-version/:versionId/agent-preflight')
  @ApiOperation({
    operationId: 'preflightVersion',
    summary: 'Check what the agents of a version may use',
    description:
      'Extension of the contract. For every Custom Agent node of the version and of its libraries its systems and their tools as they ' +
      'would be in a build made now: which are ready, and why the others are not. Nobody is called.',
  })
  @ApiOkResponse({ type: PreflightResponseDto, example: PREFLIGHT_EXAMPLE, description: 'The agent nodes.' })
  @ApiErrors(400, DENIED, { 404: 'Application version not found.' })
  async version(@Param() params: DeliveryParams): Promise<PreflightResponseDto> {
    return toPreflight(await this.preflight.ofVersion(versionOf(params)));
  }

  @Get('build/:buildId/agent-preflight')
  @ApiOperation({
    operationId: 'preflightBuild',
    summary: 'Check what the agents of a build may use',
    description:
      'Extension of the contract. For every Custom Agent node of the build and of its libraries its systems and their tools: ' +
      'definitions of the build, flags of this moment. Nobody is called.',
  })
  @ApiOkResponse({
    type: PreflightResponseDto,
    example: BUILD_PREFLIGHT_EXAMPLE,
    description: 'The agent nodes.',
  })
  @ApiErrors(400, DENIED, { 404: 'Build not found for this application.' })
  async build(@Param() { appId, buildId }: BuildParams): Promise<PreflightResponseDto> {
    return toPreflight(await this.preflight.ofBuild(appId, buildId));
  }
}
