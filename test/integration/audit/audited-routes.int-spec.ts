import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RequiredPermission } from '../../../src/common/auth/require-permission.decorator.js';
import { Audited } from '../../../src/modules/audit/audited.decorator.js';
import { TestApp } from '../../support/app.js';

const READS: readonly unknown[] = [undefined, RequestMethod.GET, RequestMethod.HEAD];

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.close());

it('records the refusals of every route that changes something and asks for a permission', () => {
  const reflector = new Reflector();
  const guarded: string[] = [];
  const unrecorded: string[] = [];
  for (const [controller, name, handler] of handlers()) {
    const method: unknown = Reflect.getMetadata('method', handler);
    const permission = reflector.getAllAndOverride(RequiredPermission, [handler, controller]) as unknown;
    if (!READS.includes(method) && permission !== undefined) {
      guarded.push(`${controller.name}.${name}`);
      unrecorded.push(...(reflector.get(Audited, handler) === undefined ? guarded.slice(-1) : []));
    }
  }
  expect(guarded.length).toBeGreaterThan(10);
  expect(unrecorded).toEqual([]);
});

type Handler = (...values: unknown[]) => unknown;

function* handlers(): Generator<[controller: new () => object, name: string, handler: Handler]> {
  for (const { controllers } of app.nest.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      const prototype = (metatype as new () => object).prototype as Record<string, Handler>;
      for (const name of Object.getOwnPropertyNames(prototype)) {
        yield [metatype as new () => object, name, prototype[name] as Handler];
      }
    }
  }
}
