import { Module, type DynamicModule, type Type } from '@nestjs/common';

/** Offers a value everywhere, by its class. */
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
