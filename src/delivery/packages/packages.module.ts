import { Module } from '@nestjs/common';
import { PackageThreadsService } from './package-threads.service.js';
import { PackagesService } from './packages.service.js';

/** Application packages as data: format and checks. */
@Module({
  providers: [PackagesService, PackageThreadsService],
  exports: [PackagesService, PackageThreadsService],
})
export class PackagesModule {}
