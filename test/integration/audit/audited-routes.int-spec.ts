import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isPermissionSetting, RequiredPermission } from '../../../src/platform/auth/access.decorators.js';
import { AuditAction, AuditOutcome } from '../../../src/audit/model/audit.types.js';
import { AuditedAction } from '../../../src/audit/recording/audited.decorator.js';
import { TestApp } from '../../support/app.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { started } from '../../support/runtime/runtime-client.js';
import { auditRows } from '../systems/rows.js';

const READS: readonly unknown[] = [undefined, RequestMethod.GET, RequestMethod.HEAD];

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.shared();
});
afterAll(() => app.close());

it('names an audit action for every modifying route that requires a permission', () => {
  const guarded = [...guardedRoutes()];
  expect(guarded.length).toBeGreaterThan(10);
  expect(guarded.filter(({ action }) => action === undefined)).toEqual([]);
});

it('records the refusal of every such route in the audit log of its version', async () => {
  const things = await thingsToRefuse();
  const token = await app.tokenWith({ scope: 'openid', sub: 'intruder' });
  const refused: string[] = [];
  for (const { method, path, action } of guardedRoutes()) {
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => things[name] ?? 'none');
    const { status } = await app.request(method, `/${target}`, { token });
    expect([method, path, status]).toEqual([method, path, 403]);
    refused.push(String(action));
  }
  const { appId, versionId } = things;
  const recorded = async (): Promise<string[]> => {
    const events = await auditRows(app, { appId: appId!, versionId: versionId! });
    return events
      .filter(({ outcome }) => outcome === AuditOutcome.Denied)
      .map(({ action }) => action)
      .toSorted();
  };
  await expect.poll(recorded).toEqual(refused.toSorted());
});

/** Publishes a version and starts an instance of it. Returns their ids as path parameters. */
async function thingsToRefuse(): Promise<Record<string, string>> {
  const published = await publish(app, { bpmn: userTaskProcess('waits') });
  const { uuid, token } = await started(app, published, 'waits');
  const { appId, versionId, buildId } = published;
  return { appId, versionId, buildId, uuid, tokenUuid: token.uuid };
}

function* guardedRoutes(): Generator<{ method: string; path: string; action: AuditAction | undefined }> {
  const reflector = new Reflector();
  for (const [controller, , handler] of handlers()) {
    const method = Reflect.getMetadata('method', handler) as RequestMethod | undefined;
    const required = reflector.getAllAndOverride(RequiredPermission, [handler, controller]);
    // A deployment may require a permission for starts and UI actions, but the instance history records those.
    if (!READS.includes(method) && required !== undefined && !isPermissionSetting(required)) {
      const [prefix, path] = [controller, handler].map(
        (target) => Reflect.getMetadata('path', target) as string,
      );
      const action = reflector.get(AuditedAction, handler) as AuditAction | undefined;
      yield {
        method: RequestMethod[method ?? 0] ?? '',
        path: `${prefix}/${path}`.replace(/\/$/, ''),
        action,
      };
    }
  }
}

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
