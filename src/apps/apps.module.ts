import { Module } from '@nestjs/common';
import { ApplicationsController } from './reading/applications.controller.js';
import { AppsService } from './apps.service.js';

/** Application versions and what depends on what. */
@Module({
  controllers: [ApplicationsController],
  providers: [AppsService],
  exports: [AppsService],
})
export class AppsModule {}
