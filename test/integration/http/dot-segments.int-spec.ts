import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/openapi.js';
import { TestApp } from '../../support/app.js';
import { sendRaw } from './raw-http.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Routes that validate the body before path parameters. The requests of this test have no body. */
const BODY_FIRST = /\/(active-build|systems|test-mcp-connection)$/;
const NUMBERS = new Set(['scanId']);

describe('path parameters that are "." or ".."', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());

  it('are 400 on every route', async () => {
    const answers: unknown[] = [];
    const expected: unknown[] = [];
    const token = await app.tokenWith({});
    for (const { method, template, name } of parametersOf(app)) {
      for (const value of ['%2e', '%2E%2e']) {
        const path = template
          .replace(`{${name}}`, value)
          .replace('{scanId}', '1')
          .replaceAll(/\{[^}]+\}/g, '01a1ff0c-2957-76de-8fd8-d440b850adff');
        const head = `${method.toUpperCase()} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
        const more = 'svc-platform: web\r\nIf-Match: *\r\nConnection: close\r\n\r\n';
        const { status, body } = await sendRaw(app.url, { parts: [head + more] });
        const details = String((JSON.parse(body) as { details?: unknown }).details);
        const rule = `${name}: must not be "." or "..", which are relative segments of a path`;
        answers.push([
          method,
          template,
          name,
          status,
          details.includes(rule) || BODY_FIRST.test(template) || details,
        ]);
        expected.push([method, template, name, 400, true]);
      }
    }
    expect(expected.length).toBeGreaterThan(100);
    expect(answers).toEqual(expected);
  });
});

function parametersOf(app: TestApp): { method: string; template: string; name: string }[] {
  return Object.entries(buildOpenApi(app.nest).paths).flatMap(([template, item]) =>
    METHODS.filter((method) => method in item).flatMap((method) =>
      [...template.matchAll(/\{([^}]+)\}/g)].flatMap(([, name = '']) =>
        NUMBERS.has(name) ? [] : [{ method, template, name }],
      ),
    ),
  );
}
