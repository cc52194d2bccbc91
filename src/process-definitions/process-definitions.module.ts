import { Module } from '@nestjs/common';
import { ProcessCompilerService } from './process-compiler.service.js';

/** Compiles process definitions. */
@Module({
  providers: [ProcessCompilerService],
  exports: [ProcessCompilerService],
})
export class ProcessDefinitionsModule {}
