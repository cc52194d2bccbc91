import { Controller, Get, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { ActiveBuildsService } from './active-builds.service.js';
import { BuildInfoResponseDto, toBuildInfo } from './build-info.dto.js';
import { BUILD_INFO_EXAMPLE } from '../model/build.examples.js';
import { AppParams } from '../model/build.params.dto.js';

/** Tells front ends which build is active (docs/contract.md, section 6: the contract only names it). */
@ApiTags('Builds')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/app/:appId/build')
export class BuildInfoController {
  constructor(private readonly actives: ActiveBuildsService) {}

  @Get('info')
  @ApiOperation({
    operationId: 'getBuildInfo',
    summary: 'Get what a front end needs to know of the active build',
    description:
      'Extension of the contract. Any valid token will do. `buildId` goes into the path that starts a process.',
  })
  @ApiOkResponse({
    type: BuildInfoResponseDto,
    example: BUILD_INFO_EXAMPLE,
    description: 'The active build.',
  })
  @ApiErrors(400, { 404: 'The application has no active build.' })
  async info(@Param() { appId }: AppParams): Promise<BuildInfoResponseDto> {
    return toBuildInfo(await this.actives.info(appId));
  }
}
