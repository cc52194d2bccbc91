import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import zlib from 'node:zlib';
import * as YAML from 'yaml';
import { buildOpenApi } from '../../src/openapi.js';
import { TestApp, TEST_SECRETS_KEYS } from '../support/app.js';
import { dereferenced, OpenApiContract } from '../support/openapi-contract.js';

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

interface SchemaPart {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  properties?: Record<string, SchemaPart>;
  items?: SchemaPart;
  oneOf?: SchemaPart[];
  anyOf?: SchemaPart[];
  allOf?: SchemaPart[];
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  'x-permission'?: string;
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: SchemaPart;
  }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<
    string,
    { description: string; content?: Record<string, Media>; headers?: Record<string, object> }
  >;
}

interface ComponentSchema {
  description?: string;
  properties?: Record<
    string,
    { description?: string; $ref?: string; discriminator?: { mapping: Record<string, string> } }
  >;
}

const PROBLEM = 'application/problem+json';
/** Routes that need no token and do not have the errors common to all others. */
const METADATA = '/.well-known/oauth-protected-resource/mcp/app/{appId}';
const WITHOUT_TOKEN = ['/livez', '/readyz', '/console/settings', METADATA, `${METADATA}/search`];
/** Files that are generated and compressed once. */
const KEPT = [
  '/docs-json',
  '/docs-yaml',
  '/docs/swagger-ui-init.js',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui-standalone-preset.js',
  '/docs/swagger-ui.css',
];
/** Statuses with which a route may replay a stored response. */
const REPLAYED: Readonly<Record<string, readonly string[]>> = {
  startProcess: ['200', '400', '409'],
  executeUiAction: ['200'],
  createBuild: ['201'],
  startTestRun: ['202'],
};
/** Response headers that the contract requires only for the start of a process. */
const START_HEADERS = [
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Origin',
  'Strict-Transport-Security',
  'Content-Encoding',
  'Vary',
  'X-Content-Type-Options',
  'X-XSS-Protection',
];
/** Names for pages and time ranges that this API does not use. */
const OTHER_NAMES = /[Ss]ince|[Uu]ntil|[Cc]ursor|[Oo]ffset|[Pp]age|[a-z](From|To)$/;
/** Keywords of the schema dialect of OpenAPI 3.0 that have no meaning in 3.1. */
const OLD_KEYWORDS = ['nullable', 'x-nullable'];

describe('OpenAPI document', () => {
  let app: TestApp;
  let document: OpenAPIObject;
  let operations: { name: string; method: string; path: string; operation: Operation }[];

  beforeAll(async () => {
    app = await TestApp.shared();
    document = buildOpenApi(app.nest);
    operations = Object.entries(dereferenced(document).paths).flatMap(([path, methods]) =>
      Object.entries(methods as unknown as Record<string, Operation>).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method,
        path,
        operation,
      })),
    );
  });
  afterAll(() => app.close());

  const guarded = () => operations.filter(({ path }) => !WITHOUT_TOKEN.includes(path));

  it('is the committed openapi.json, byte for byte', async () => {
    const committed = await readFile('openapi.json', 'utf8');

    expect(`${JSON.stringify(document, null, 2)}\n`, 'run `npm run openapi` and look at the difference').toBe(
      committed,
    );
  });

  it('is a self-contained OpenAPI 3.1 document', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference ?? '');

    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const [, kind = '', name = ''] =
        /^#\/components\/(schemas|headers|responses|parameters)\/(\w+)$/.exec(reference) ?? [];
      expect(document.components?.[kind as 'schemas'], reference).toHaveProperty(name);
    }
    for (const keyword of OLD_KEYWORDS) {
      expect(text).not.toContain(`"${keyword}":`);
    }
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      expect(ajv.validateSchema(schema), `${name} ${ajv.errorsText()}`).toBe(true);
    }
  });

  it('declares exactly the parameters that are in the paths', () => {
    for (const { name, path, operation } of operations) {
      const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter ?? '');
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');

      expect(declared.map((parameter) => parameter.name).toSorted(), name).toEqual(inTemplate.toSorted());
      expect(
        declared.every(({ required }) => required),
        name,
      ).toBe(true);
    }
  });

  it('names every operation once and explains it', () => {
    expect(operations.length).toBeGreaterThan(0);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    for (const { name, operation } of operations) {
      expect(operation.summary, name).toBeTruthy();
      expect(operation.description, name).toBeTruthy();
      expect(operation.tags, name).toHaveLength(1);
    }
  });

  it('describes every parameter and every response', () => {
    for (const { name, operation } of operations) {
      for (const parameter of operation.parameters ?? []) {
        expect(parameter.description, `${name} ${parameter.name}`).toBeTruthy();
      }
      for (const [status, { description }] of Object.entries(operation.responses)) {
        expect(description, `${name} ${status}`).not.toBe('');
      }
    }
  });

  it('describes every field of every body', () => {
    const schemas = (document.components?.schemas ?? {}) as Record<string, ComponentSchema>;
    for (const [name, { properties }] of Object.entries(schemas)) {
      for (const [field, { description, $ref = '' }] of Object.entries(properties ?? {})) {
        const text = description ?? schemas[$ref.split('/').at(-1) ?? '']?.description;
        expect(text, `${name}.${field}`).toBeTruthy();
      }
    }
  });

  it('documents the statuses, the permission and the bearer token of every route that needs a token', () => {
    for (const { name, path, operation } of guarded()) {
      const permission = operation['x-permission'];
      const denied = permission === undefined ? [] : ['403'];
      expect(Object.keys(operation.responses), name).toEqual(
        expect.arrayContaining(['400', '401', ...denied, '429', '500', '503']),
      );
      // Endpoints of the runtime need only a valid token (docs/contract.md, sections 3.1 and 4.1).
      const known = [
        'integration-management',
        'application-delivery',
        'process-read',
        'process-administration',
        'workflow-test',
        'tool-call',
        'tool-use',
      ];
      expect(path.startsWith('/appmanager/') ? known : [...known, undefined], name).toContain(permission);
      expect(operation.security, name).toEqual([{ bearer: [] }]);
    }
    expect(document.components?.securitySchemes?.['bearer']).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    });
  });

  it('documents the headers of every response: request id and limits, and how to proceed after 401, 429 and 503', () => {
    const byStatus: Record<string, string[]> = {
      '401': ['WWW-Authenticate'],
      '429': ['Retry-After'],
      '503': ['Retry-After'],
    };
    for (const { name, path, operation } of operations) {
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        const tagged =
          /^((create|get|update)WorkflowNode|(get|update)System|activateBuild|getActiveBuild)$/.test(
            operation.operationId,
          ) && /^(2..|304)$/.test(status)
            ? ['ETag']
            : [];
        const isMcp = path.startsWith('/mcp/');
        const located = /^20[12]$/.test(status) && !isMcp ? ['Location'] : [];
        const challenged = isMcp && status === '403' ? ['WWW-Authenticate'] : [];
        const replays = REPLAYED[operation.operationId] ?? [];
        const replayed = replays.includes(status) ? ['Idempotent-Replayed'] : [];
        const ofStart = operation.operationId === 'startProcess' && status === '200' ? START_HEADERS : [];
        expect(Object.keys(headers), `${name} ${status}`).toEqual([
          'X-Request-Id',
          ...(WITHOUT_TOKEN.includes(path)
            ? []
            : ['RateLimit-Policy', 'RateLimit', ...(byStatus[status] ?? [])]),
          ...challenged,
          ...located,
          ...ofStart,
          ...replayed,
          ...tagged,
        ]);
      }
    }
  });

  it('limits every text, list and number in requests, except in packages, which are limited by bytes', () => {
    const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaPart>;
    const unbounded: string[] = [];
    const seen = new Set<string>();
    const look = (part: SchemaPart | undefined, place: string): void => {
      if (part?.$ref !== undefined) {
        const name = part.$ref.split('/').at(-1) ?? '';
        if (!seen.has(name) && !name.includes('Package')) {
          seen.add(name);
          look(schemas[name], name);
        }
        return;
      }
      if (part === undefined || isUnbounded(part)) {
        unbounded.push(place);
      }
      const { properties = {}, items, oneOf = [], anyOf = [], allOf = [] } = part ?? {};
      Object.entries(properties).forEach(([name, member]) => look(member, `${place}.${name}`));
      [...(items === undefined ? [] : [items]), ...oneOf, ...anyOf, ...allOf].forEach((one) =>
        look(one, place),
      );
    };
    for (const { name, operation } of operations) {
      for (const parameter of operation.parameters ?? []) {
        look(parameter.schema, `${name} ${parameter.name}`);
      }
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        look(schema, `${name} body`);
      }
    }
    expect(unbounded).toEqual([]);
    expect(seen.size).toBeGreaterThan(10);
  });

  it('uses the same names for pages and time ranges in all lists', () => {
    const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaPart>;
    let lists = 0;
    for (const { name, operation } of operations) {
      const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const names = query.map((parameter) => parameter.name);
      const others = names.filter((each) => OTHER_NAMES.test(each));
      expect(others, name).toEqual([]);
      if (names.includes('limit') && operation.operationId !== 'countProcessIncidents') {
        lists += 1;
        const { schema = {} } = operation.responses['200']?.content?.['application/json'] ?? {};
        const { $ref = '' } = schema as SchemaPart;
        expect(schemas[$ref.split('/').at(-1) ?? '']?.properties, name).toHaveProperty('next');
        const isNewestFirst = names.includes('before') && !names.includes('after');
        expect(isNewestFirst || names.includes('after'), name).toBe(true);
        const hasRange = isNewestFirst && operation.operationId !== 'listAuditEvents';
        expect(names.includes('from') && names.includes('to'), name).toBe(hasRange);
      }
    }
    expect(lists).toBeGreaterThan(10);
  });

  it('requires no token for the probes and the settings of the console', () => {
    for (const { name, operation } of operations.filter(({ path }) => WITHOUT_TOKEN.includes(path))) {
      expect(operation.security, name).toEqual([]);
    }
  });

  it('has an example of every request body and every response of a guarded route', () => {
    for (const { name, operation } of guarded()) {
      for (const media of bodiesOf(operation)) {
        expect(examplesOf(media).length, name).toBeGreaterThan(0);
      }
    }
  });

  it('has only request examples that match their schema', () => {
    const ajv = new Ajv2020({ strict: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    for (const { name, operation } of operations) {
      for (const media of Object.values(operation.requestBody?.content ?? {})) {
        const validate = ajv.compile({ ...media.schema, components: document.components });
        for (const body of examplesOf(media)) {
          expect(validate(body), `${name} ${ajv.errorsText(validate.errors)}`).toBe(true);
        }
      }
    }
  });

  it('defines parts that operations share only once', () => {
    const seen = new Set<string>();
    const twice: string[] = [];
    const look = (part: object, place: string): void => {
      const text = JSON.stringify(part);
      if (!('$ref' in part) && seen.has(text)) {
        twice.push(place);
      }
      seen.add(text);
    };
    for (const methods of Object.values(document.paths)) {
      for (const operation of Object.values(methods as unknown as Record<string, Operation>)) {
        const { operationId, parameters = [], responses } = operation;
        parameters.forEach((parameter) => look(parameter, `${operationId} ${parameter.name}`));
        for (const [status, response] of Object.entries(responses)) {
          Object.entries(response.headers ?? {}).forEach(([name, header]) =>
            look(header, `${operationId} ${name}`),
          );
          if (Number(status) >= 400) {
            look(response, `${operationId} ${status}`);
          }
        }
      }
    }
    expect(twice).toEqual([]);
  });

  it('describes the members of a single workflow node', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const id of ['createWorkflowNode', 'updateWorkflowNode']) {
      const { operation } = operations.find((one) => one.operation.operationId === id)!;
      const [media] = Object.values(operation.requestBody?.content ?? {});
      const validate = ajv.compile({ ...media?.schema, components: document.components });
      const node = { type: 'END', name: 'End' };
      expect(validate(node), ajv.errorsText(validate.errors)).toBe(true);
      expect(validate({ ...node, foo: 1 })).toBe(false);
      expect(validate({ name: 'End' })).toBe(false);
      // A node can be sent as it was read.
      const answers = Object.values(operation.responses).flatMap(({ content = {} }) =>
        Object.values(content),
      );
      const [read] = answers.flatMap(examplesOf).filter((body) => 'svcUuid' in (body as object));
      expect(validate(read), ajv.errorsText(validate.errors)).toBe(true);
    }
  });

  it('describes the members of each authorization by type, in requests and responses', () => {
    const schemas = (document.components?.schemas ?? {}) as Record<string, ComponentSchema>;
    const members = Object.entries({
      CreateSystemPayload: 'configuration',
      UpdateSystemRequest: 'configuration',
      ConnectionTestRequest: 'configuration',
      CreatedSystemResponse: 'configuration',
      SystemResponse: 'config',
    });
    for (const [name, member] of members) {
      const { discriminator } = schemas[name]?.properties?.['authorization'] ?? {};
      expect(Object.keys(discriminator?.mapping ?? {}), name).toEqual([
        'NO_AUTH',
        'SERVICE_ACCOUNT',
        'API_KEY',
      ]);
      const shapes = ['SERVICE_ACCOUNT', 'API_KEY'].map((type) => {
        const kind = schemas[discriminator?.mapping[type]?.split('/').at(-1) ?? ''];
        return JSON.stringify(kind?.properties?.[member]);
      });
      expect(new Set(shapes).size, name).toBe(2);
      expect(shapes.join(), name).not.toContain('anyOf');
    }
  });

  it('has only response examples that match their schema', () => {
    const contract = new OpenApiContract(document);
    for (const { method, path, operation } of operations) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        for (const [contentType, media] of Object.entries(content ?? {})) {
          for (const body of examplesOf(media)) {
            contract.check(method.toUpperCase(), path, { status: Number(status), contentType, body });
          }
        }
      }
    }
  });

  it.each(['/docs', '/docs/', '/docs-json', '/docs-yaml', '/docs/swagger-ui-init.js'])(
    'is served without a token at %s and contains no secret',
    async (path) => {
      const response = await fetch(`${app.url}${path}`);
      const text = await response.text();

      expect(response.status).toBe(200);
      expect(text).not.toContain(TEST_SECRETS_KEYS.split(':')[1]);
      expect(text).not.toContain(app.issuer.url);
      // With this option the page would keep a pasted token permanently, for all tabs.
      expect(text).not.toContain('persistAuthorization');
      expect(text).not.toContain('localStorage');
    },
  );

  it.each([...KEPT, '/docs/favicon-32x32.png', '/docs/swagger-ui-bundle.js.map'])(
    'is compressed only once: %s',
    async (path) => {
      const ask = () => fetch(`${app.url}${path}`, { headers: { 'accept-encoding': 'br, gzip' } });
      await (await ask()).arrayBuffer();
      const compressors = [vi.spyOn(zlib, 'createBrotliCompress'), vi.spyOn(zlib, 'createGzip')];
      expect((await ask()).status).toBe(200);
      expect(compressors.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
      vi.restoreAllMocks();
    },
  );

  it.each(['/docs-json', '/docs-yaml', '/docs/swagger-ui-init.js'])(
    'is generated only once: %s',
    async (path) => {
      await fetch(`${app.url}${path}`);
      const made = vi.spyOn(SwaggerModule, 'createDocument');
      const written = vi.spyOn(YAML.Document.prototype, 'toString');
      const codings = ['br', 'gzip', 'deflate', 'identity', 'br;q=0, gzip', 'gzip;q=0'];
      const texts = await Promise.all(
        codings.map(async (coding) =>
          (await fetch(`${app.url}${path}`, { headers: { 'accept-encoding': coding } })).text(),
        ),
      );
      expect(new Set(texts).size).toBe(1);
      expect([made.mock.calls.length, written.mock.calls.length]).toEqual([0, 0]);
      vi.restoreAllMocks();
    },
  );

  it.each(KEPT)('is 304 if If-None-Match matches, in every coding: %s', async (path) => {
    const ask = (headers: Record<string, string>) => fetch(`${app.url}${path}`, { headers });
    const whole = await ask({ 'accept-encoding': 'br' });
    const etag = whole.headers.get('etag') ?? '';
    expect([whole.headers.get('content-encoding'), whole.headers.get('cache-control')]).toEqual([
      'br',
      'no-cache, no-transform',
    ]);
    for (const headers of [{ 'accept-encoding': 'gzip' }, {}]) {
      // fetch adds no-cache to conditional requests, which would return the whole file.
      const again = await ask({
        ...headers,
        'if-none-match': `"x", ${etag}`,
        'cache-control': 'max-age=0',
      });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await ask({ 'if-none-match': '"x"', 'cache-control': 'max-age=0' })).status).toBe(200);
  });

  it('is the same document in YAML', async () => {
    const text = await (await fetch(`${app.url}/docs-yaml`)).text();
    expect(YAML.parse(text)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('is the same document at /docs-json', async () => {
    const response = await fetch(`${app.url}/docs-json`);

    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

/** Returns whether a schema has no limit. A pattern without `*` or `+` counts as a limit. */
function isUnbounded(part: SchemaPart): boolean {
  const types = [part.type].flat();
  const { enum: values, const: value, format, pattern, maxLength } = part;
  const isListed = values !== undefined || value !== undefined || format !== undefined;
  const isText = types.includes('string') && !isListed && maxLength === undefined;
  const isNumber = types.includes('integer') && (part.minimum === undefined || part.maximum === undefined);
  return (
    (isText && (pattern === undefined || /[*+]/.test(pattern))) ||
    isNumber ||
    (types.includes('array') && part.maxItems === undefined)
  );
}

function bodiesOf({ requestBody, responses }: Operation): Media[] {
  return [requestBody, ...Object.values(responses)].flatMap((part) =>
    // Problem documents repeat the JSON response with additional members.
    Object.entries(part?.content ?? {}).flatMap(([type, media]) => (type === PROBLEM ? [] : [media])),
  );
}

function examplesOf({ example, examples }: Media): unknown[] {
  return example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example];
}
