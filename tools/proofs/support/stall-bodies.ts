import * as fc from 'fast-check';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  serviceAccount,
  systemPath,
} from '../../../test/support/factories.js';
import { taskProcess, userTask } from '../../../test/support/runtime/process-files.js';
import { calling, mapping, workflowOf } from '../../../test/support/runtime/publish.js';
import type { Attack, Attacker } from './stall-attacks.js';
import { VALUES } from './stall-grammars.js';

/** Placeholder in a body for the hostile value. */
const PLACE = 'place-of-the-hostile-value';
const MAX_COPIES = 2_000;
const CONCURRENCY = 4;

type Body = Record<string, unknown>;

/** A package with one of every kind of member. */
const PACKAGE: Body = {
  systems: [
    { resourceName: 'tools', type: 'MCP', name: 'Tools', baseUrl: 'http://127.0.0.1:1/mcp' },
    {
      resourceName: 'orders',
      type: 'REST',
      name: 'Orders',
      baseUrl: 'http://127.0.0.1:1/',
      authorization: {
        type: 'SERVICE_ACCOUNT',
        configuration: { clientId: 'client', identityProviderUrl: 'http://127.0.0.1:1/' },
      },
    },
  ],
  workflows: [
    workflowOf(
      'flow',
      [
        mapping('map', { a: ['${items}'] }),
        {
          id: 'call',
          type: 'REST_ENDPOINT',
          responseKey: 'answer',
          payload: { system: { resourceName: 'orders' }, method: 'POST', path: '/a', headers: { a: 'b' } },
          inputBody: '{}',
        },
        {
          id: 'agent',
          type: 'CUSTOM_AGENT',
          responseKey: 'advice',
          aiOptions: {
            aiType: 'CUSTOM_AGENT',
            operationPrompt: 'Advise about ${items}.',
            exampleOutputJsonSchema: { type: 'object', properties: { a: { type: 'string' } } },
            mcpServers: [{ resourceName: 'tools' }],
          },
        },
        calling('again', 'flow'),
      ],
      { inputSchema: { type: 'object', properties: { items: { type: 'array', items: {} } } } },
    ),
  ],
  processes: [{ file: 'processes/p.bpmn', bpmn: taskProcess('p', userTask('a')) }],
};

const NODES = '/workflow/flow/node';
const versionOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

interface Route {
  readonly method: 'PUT' | 'POST' | 'PATCH';
  /** @param version path of an application version that contains the package above */
  readonly path: (version: string, attacker: Attacker) => string;
  readonly body: Body;
}

/** Routes with a body that is not validated against an author's schema. */
const ROUTES: readonly Route[] = [
  {
    method: 'PATCH',
    path: (version, { appId }) => createPath(appId, versionOf(version)),
    body: createSystemBody({ payload: { authorization: serviceAccount(), description: 'x', tls: null } }),
  },
  {
    method: 'PATCH',
    path: (version, { appId }) => systemPath('0'.repeat(24), appId, versionOf(version)),
    body: createSystemBody({ action: 'UPDATE' }),
  },
  {
    method: 'PATCH',
    path: (version, { appId }) => connectionTestPath(appId, versionOf(version)),
    body: { baseUrl: 'http://127.0.0.1:1/mcp', authorization: { type: 'NO_AUTH' } },
  },
  { method: 'POST', path: (version) => `${version}/commit`, body: { message: 'x' } },
  { method: 'PUT', path: (version) => `${version}${NODES}`, body: mapping('map', {}) },
  { method: 'PUT', path: (version) => `${version}${NODES}/map`, body: mapping('map', {}) },
  {
    method: 'PUT',
    path: (version) => `${version.slice(0, version.indexOf('/app-version/'))}/active-build`,
    body: { buildId: 'b' },
  },
];

/** Returns the paths of all members and elements of a value, from its root. */
function placesIn(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) {
    return [[]];
  }
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const within = keys.flatMap((key) => placesIn((value as Body)[key]).map((place) => [key, ...place]));
  return [[], ...within];
}

/** Returns the JSON of a value with a hostile value at a place. */
function withAt(value: unknown, place: readonly (string | number)[], hostile: string): string {
  const root = structuredClone({ root: value }) as Body;
  const keys = ['root', ...place];
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at, key) => at[key] as Body, root);
  parent[last] = PLACE;
  return JSON.stringify(root['root']).replace(`"${PLACE}"`, () => hostile);
}

/** Returns the JSON of a value in which the element at a place is repeated, each copy with unique ids. */
function withCopies(value: unknown, place: readonly (string | number)[], count: number): string {
  const element = place.reduce((at, key) => (at as Body)[key], value);
  const text = JSON.stringify(element);
  const copies = Array.from({ length: count }, (_, index) =>
    text.replace(/("(?:id|name|resourceName|file)":"[^".]*)/gu, `$1${index}`),
  );
  return withAt(value, place, copies.join());
}

/** Returns a value with a hostile value in one place, or with many copies of one of its elements. */
function corrupted(value: Body): fc.Arbitrary<string> {
  const places = placesIn(value).filter(({ length }) => length > 0);
  const elements = places.filter((place) => typeof place.at(-1) === 'number');
  const replaced = fc
    .tuple(fc.constantFrom(...places), VALUES)
    .map(([place, hostile]) => withAt(value, place, hostile));
  return elements.length === 0
    ? replaced
    : fc.oneof(
        replaced,
        fc
          .tuple(fc.constantFrom(...elements), fc.integer({ min: 2, max: MAX_COPIES }))
          .map(([place, count]) => withCopies(value, place, count)),
      );
}

/** Delivers a package, and builds it if the service accepts it. */
const PACKAGES: fc.Arbitrary<Attack> = corrupted(PACKAGE).map((members) => ({
  name: 'a package',
  prepare: (attacker) =>
    Promise.resolve(() => Promise.all([build(attacker, members), attacker.deliver(members)])),
}));

async function build(attacker: Attacker, members: string): Promise<void> {
  const { path, status } = await attacker.deliver(members);
  if (status < 300) {
    await Promise.all(
      [`${path}/package`, `${path}/agent-preflight`].map((read) => attacker.send('GET', read)),
    );
    await attacker.send('POST', `${path}/commit`);
    await attacker.send('POST', `${path}/build`);
  }
}

const BODIES: fc.Arbitrary<Attack> = fc.oneof(
  ...ROUTES.map(({ method, path, body }) =>
    corrupted(body).map((text) => ({
      name: `a body of ${method}`,
      prepare: async (attacker: Attacker) => {
        const { path: version } = await attacker.deliver(JSON.stringify(PACKAGE));
        const to = path(version, attacker);
        return () => Promise.all(Array.from({ length: CONCURRENCY }, () => attacker.send(method, to, text)));
      },
    })),
  ),
);

/** Attacks with packages and with bodies of other routes. */
export const PACKAGES_AND_BODIES: fc.Arbitrary<Attack> = fc.oneof(PACKAGES, BODIES);
