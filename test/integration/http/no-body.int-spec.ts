import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/openapi.js';
import { TestApp } from '../../support/app.js';

const METHODS = ['post', 'put', 'patch'];

describe('routes that take nothing from their body', () => {
  let app: TestApp;
  let routes: { method: string; path: string }[];
  beforeAll(async () => {
    app = await TestApp.start();
    routes = withoutBody(app);
  });
  afterAll(() => app.close());

  it('are known', () => {
    expect(routes.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)).toSorted()).toEqual([
      'build',
      'hold',
      'release',
      'retry',
      'retry',
      'terminate',
    ]);
  });

  it('refuse fields by name, and take none, {} and nothing', async () => {
    for (const { method, path } of routes) {
      const refused = await app.request(method.toUpperCase(), path, { body: { force: true, why: 'x' } });
      expect([path, refused.status, refused.body['details']]).toEqual([
        path,
        400,
        'force: is not a known field; why: is not a known field',
      ]);
      const taken = [
        await app.request(method.toUpperCase(), path, { body: {} }),
        await app.request(method.toUpperCase(), path),
      ];
      expect([path, ...taken.map(({ status }) => status)]).toEqual([path, 404, 404]);
    }
  });
});

/** Every operation of the OpenAPI document that can have a body and declares none, with some value for each path parameter. */
function withoutBody(app: TestApp): { method: string; path: string }[] {
  return Object.entries(buildOpenApi(app.nest).paths).flatMap(([template, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, { requestBody?: object } | undefined>)[method];
      const path = template.replaceAll(/\{[^}]+\}/g, '01a1ff0c-2957-76de-8fd8-d440b850adff');
      return operation !== undefined && operation.requestBody === undefined ? [{ method, path }] : [];
    }),
  );
}
