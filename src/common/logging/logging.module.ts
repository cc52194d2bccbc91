import { Module, type DynamicModule } from '@nestjs/common';
import { Log } from './log.js';

/** Offers the logger everywhere. */
@Module({})
export class LoggingModule {
  static forLog(log: Log): DynamicModule {
    return {
      module: LoggingModule,
      global: true,
      providers: [{ provide: Log, useValue: log }],
      exports: [Log],
    };
  }
}
