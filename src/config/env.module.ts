import { Module, type DynamicModule } from '@nestjs/common';
import { Env } from './env.js';

/** Offers the settings everywhere. */
@Module({})
export class EnvModule {
  static forEnv(env: Env): DynamicModule {
    return { module: EnvModule, global: true, providers: [{ provide: Env, useValue: env }], exports: [Env] };
  }
}
