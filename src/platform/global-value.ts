import { Module, type DynamicModule, type Type } from '@nestjs/common';

/** Module that provides a value globally, with its class as the token. */
@Module({})
export class GlobalValue {
  static of(value: object): DynamicModule {
    const provide = value.constructor as Type;
    return {
      module: GlobalValue,
      global: true,
      providers: [{ provide, useValue: value }],
      exports: [provide],
    };
  }
}
