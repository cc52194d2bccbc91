import { Module } from '@nestjs/common';
import { ProcessDefinitionsModule } from '../../process-definitions/process-definitions.module.js';
import { PackageThreadsService } from './package-threads.service.js';
import { PackagesService } from './packages.service.js';

/** Application packages as data: format and checks. */
@Module({
  imports: [ProcessDefinitionsModule],
  providers: [PackagesService, PackageThreadsService],
  exports: [PackagesService, PackageThreadsService],
})
export class PackagesModule {}
