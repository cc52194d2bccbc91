import { Module } from '@nestjs/common';
import { AppVersionsRepository } from './app-versions.repository.js';
import { ApplicationsController } from './reading/applications.controller.js';
import { ApplicationsService } from './reading/applications.service.js';
import { AppsService } from './apps.service.js';

/** Application versions and what depends on what. */
@Module({
  controllers: [ApplicationsController],
  providers: [AppVersionsRepository, ApplicationsService, AppsService],
  exports: [AppsService],
})
export class AppsModule {}
