import { Controller, Get, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActiveBuildsService } from './active-builds.service.js';
import { BuildInfoResponseDto, toBuildInfo } from './build-info.dto.js';
import { AppParams } from '../../apps/app.params.dto.js';
import { BuildInfoApi } from './build-info.api.js';

/** Tells front ends which build is active (docs/contract.md, section 6: the contract only names it). */
@ApiTags('Builds')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/app/:appId/build')
export class BuildInfoController {
  constructor(private readonly actives: ActiveBuildsService) {}

  @Get('info')
  @BuildInfoApi.getBuildInfo
  async info(@Param() { appId }: AppParams): Promise<BuildInfoResponseDto> {
    return toBuildInfo(await this.actives.info(appId));
  }
}
