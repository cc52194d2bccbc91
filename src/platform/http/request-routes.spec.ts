import express, { type Request } from 'express';
import { describe, expect, it } from 'vitest';
import { allowedMethods, routeFor } from './request-routes.js';

describe('routes of Express', () => {
  const app = express();
  app.get('/apps/:appId', () => undefined);
  app.delete('/apps/:appId', () => undefined);
  const asked = (path: string, method = 'GET') => ({ app, path, method }) as unknown as Request;

  it('are found by method and path, with their parameters', () => {
    expect(routeFor(asked('/apps/a%20b'))).toMatchObject({
      template: '/apps/:appId',
      params: { appId: 'a b' },
    });
    expect(routeFor(asked('/apps/a', 'HEAD'))).toMatchObject({ template: '/apps/:appId' });
    expect([asked('/apps'), asked('/apps/a', 'PUT'), asked('/apps/%zz')].map(routeFor)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('name the methods of a path', () => {
    expect(allowedMethods(asked('/apps/a'))).toBe('DELETE, GET, HEAD');
    expect(allowedMethods(asked('/nowhere'))).toBeUndefined();
  });
});
