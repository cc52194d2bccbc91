import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/access.decorators.js';
import { BuildDifferencesQueryDto, BuildParams } from '../model/build.params.dto.js';
import { BuildDifferencesApi } from './build-differences.api.js';
import { toBuildDifferences, type BuildDifferencesResponseDto } from './build-differences.dto.js';
import { BuildDifferencesService } from './build-differences.service.js';

/** Shows what a build has otherwise than the active one or another one (extension of the contract). */
@ApiTags('Builds')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class BuildDifferencesController {
  constructor(private readonly differences: BuildDifferencesService) {}

  @Get('build/:buildId/differences')
  @BuildDifferencesApi.compareBuild
  async compare(
    @Param() { appId, buildId }: BuildParams,
    @Query() { baseBuildId }: BuildDifferencesQueryDto,
  ): Promise<BuildDifferencesResponseDto> {
    return toBuildDifferences(await this.differences.ofBuild(appId, buildId, baseBuildId));
  }
}
