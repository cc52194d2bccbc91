import { Global, Module } from '@nestjs/common';
import { Log } from './log.js';

/** Offers the logger everywhere. */
@Global()
@Module({ providers: [Log], exports: [Log] })
export class LoggingModule {}
