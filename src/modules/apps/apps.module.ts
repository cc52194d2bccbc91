import { Module } from '@nestjs/common';
import { AppVersionsRepository } from './app-versions.repository.js';
import { AppsService } from './apps.service.js';

/** Application versions and what depends on what. */
@Module({
  providers: [AppVersionsRepository, AppsService],
  exports: [AppsService],
})
export class AppsModule {}
