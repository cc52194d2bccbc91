import { Module } from '@nestjs/common';
import { AppVersionsRepository } from './app-versions.repository.js';
import { AppsService } from './apps.service.js';
import { KnownVersionsService } from './known-versions.service.js';

/** Application versions and what depends on what. */
@Module({
  providers: [AppVersionsRepository, AppsService, KnownVersionsService],
  exports: [AppsService, KnownVersionsService],
})
export class AppsModule {}
