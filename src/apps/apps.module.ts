import { Module } from '@nestjs/common';
import { ApplicationsController } from './reading/applications.controller.js';
import { AppsService } from './apps.service.js';

/** Application versions and their dependencies. */
@Module({
  controllers: [ApplicationsController],
  providers: [AppsService],
  exports: [AppsService],
})
export class AppsModule {}
