import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/access.decorators.js';
import { keyOf, SystemParams } from '../../systems/model/path.params.dto.js';
import { ToolReviewsApi } from './tool-reviews.api.js';
import { ToolReviewPageDto, ToolReviewsQueryDto, toToolReviewPage } from './tool-reviews.dto.js';
import { ToolReviewsService } from './tool-reviews.service.js';

/** Tools that wait for a decision (extension of the contract). */
@ApiTags('Tools')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system/ri/:systemResourceId')
export class ToolReviewsController {
  constructor(private readonly reviews: ToolReviewsService) {}

  @Get('integration/api/systems/tool-reviews')
  @ToolReviewsApi.listToolReviews
  async list(@Param() params: SystemParams, @Query() query: ToolReviewsQueryDto): Promise<ToolReviewPageDto> {
    return toToolReviewPage(await this.reviews.page(keyOf(params), query));
  }
}
