import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../support/app.js';

type Wrapped = (original: (given: unknown) => unknown) => (given: unknown) => unknown;
interface Options {
  plugins: (() => { statePlugins: { auth: { wrapActions: Record<'authorize' | 'logout', Wrapped> } } })[];
  onComplete: () => void;
}

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
});
afterAll(() => app.close());

/** Runs the script of the page as a browser tab does, with the session storage of the tab. */
async function loaded(kept: Map<string, string>, isBlocked = false) {
  const script = await (await fetch(`${app.url}/docs/swagger-ui-init.js`)).text();
  const given: unknown[] = [];
  let options: Options | undefined;
  const bundle = Object.assign(
    (chosen: Options) => {
      options = chosen;
      return { preauthorizeApiKey: (...token: unknown[]) => given.push(token) };
    },
    { presets: {}, plugins: { DownloadUrl: () => ({}) } },
  );
  const refuse = (): never => {
    throw new Error('SecurityError');
  };
  const window: { onload?: () => void } = {};
  runInNewContext(script, {
    window,
    URL,
    document: { currentScript: { src: `${app.url}/docs/swagger-ui-init.js` } },
    SwaggerUIBundle: bundle,
    SwaggerUIStandalonePreset: {},
    sessionStorage: {
      getItem: isBlocked ? refuse : (name: string) => kept.get(name) ?? null,
      setItem: isBlocked ? refuse : (name: string, value: string) => void kept.set(name, value),
      removeItem: isBlocked ? refuse : (name: string) => void kept.delete(name),
    },
  });
  window.onload?.();
  options?.onComplete();
  const { authorize, logout } = options!.plugins.at(-1)!().statePlugins.auth.wrapActions;
  return { given, authorize: authorize((one) => one), logout: logout((one) => one) };
}

describe('the page at /docs', () => {
  it('keeps a pasted token when its tab is reloaded, until logout', async () => {
    const tab = new Map<string, string>();
    const first = await loaded(tab);
    expect(first.given).toEqual([]);
    const pasted = { bearer: { name: 'bearer', value: 'a.b.c' } };
    expect(first.authorize(pasted)).toBe(pasted);

    const second = await loaded(tab);
    expect(second.given).toEqual([['bearer', 'a.b.c']]);
    second.logout(['bearer']);
    expect((await loaded(tab)).given).toEqual([]);
    expect((await loaded(new Map())).given).toEqual([]);
  });

  it('works when session storage is blocked', async () => {
    const page = await loaded(new Map(), true);
    const pasted = { bearer: { value: 'a.b.c' } };
    expect(page.authorize(pasted)).toBe(pasted);
    expect(page.given).toEqual([]);
  });

  it('uses only actions that its version of Swagger UI has', async () => {
    const bundle = await (await fetch(`${app.url}/docs/swagger-ui-bundle.js`)).text();
    for (const name of ['authorizeWithPersistOption', 'logoutWithPersistOption', 'preauthorizeApiKey']) {
      expect(bundle).toContain(name);
    }
  });

  it('does not prefill optional parameters', async () => {
    const document = (await (await fetch(`${app.url}/docs-json`)).json()) as {
      components: { parameters: Record<string, Parameter> };
      paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
    };
    const all = [
      ...Object.values(document.components.parameters),
      ...Object.values(document.paths).flatMap((path) =>
        Object.values(path).flatMap(({ parameters = [] }) => parameters),
      ),
    ];
    const optional = all.filter(({ required }) => required !== true);
    expect(optional.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['limit', 'Idempotency-Key', 'If-Match', 'Last-Event-ID']),
    );
    // Swagger UI looks for an initial value in this order.
    const filled = optional.filter((one) =>
      [one.examples, one.example, one.schema?.example].some((value) => value !== undefined),
    );
    expect(filled.map(({ name }) => name)).toEqual([]);
  });
});

interface Parameter {
  name: string;
  required?: boolean;
  example?: unknown;
  examples?: unknown;
  schema?: { example?: unknown };
}
