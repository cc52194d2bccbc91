import { Module } from '@nestjs/common';
import { ProcessDefinitionsModule } from '../process-definitions/process-definitions.module.js';
import { PackagesService } from './packages.service.js';

/** Application packages as data: format and checks. */
@Module({
  imports: [ProcessDefinitionsModule],
  providers: [PackagesService],
  exports: [PackagesService],
})
export class PackagesModule {}
