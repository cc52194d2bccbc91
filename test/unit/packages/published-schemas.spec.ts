import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { publishedSchemas } from '../../../src/delivery/packages/schema/published-schemas.js';
import { ProcessCompiler } from '#engine/definitions';
import { application, node, packageDocument, system, withoutProcesses, workflow } from './package-fixture.js';

const names = Object.keys(publishedSchemas());
const SHAPE = /^(MEMBER_UNKNOWN|MEMBER_MISSING|VALUE_INVALID|SECRET_IN_PACKAGE)$/;

/** Returns a package with every kind of part. */
function richDocument(): Record<string, unknown> {
  return packageDocument({
    application: application({
      description: 'd',
      settings: { platforms: 'WEB', numberDisplayFormat: { maxDecimals: 4 } },
      libraries: [{ appId: 'scoring', buildId: 'b1' }],
    }),
    systems: [
      system(),
      system({
        resourceName: 'core_rest',
        type: 'REST',
        authorization: {
          type: 'SERVICE_ACCOUNT',
          configuration: { clientId: 'c', identityProviderUrl: 'https://sso.example.com/token' },
        },
      }),
      { resourceName: 'store', type: 'NOSQL_DB', name: 'Store', baseUrl: null },
    ],
    workflows: [
      workflow([
        node('start', 'START', ['agent']),
        node('agent', 'CUSTOM_AGENT', ['call'], {
          responseKey: 'answer',
          aiOptions: {
            aiType: 'CUSTOM_AGENT',
            operationPrompt: 'p',
            exampleOutputJsonSchema: { type: 'object' },
            mcpServers: [{ resourceName: 'core_tools' }],
          },
        }),
        node('call', 'REST_ENDPOINT', ['find'], {
          responseKey: 'core',
          payload: {
            system: { resourceName: 'core_rest' },
            method: 'GET',
            headers: { accept: 'text/plain' },
          },
        }),
        node('find', 'DATA_SOURCE', ['choose'], {
          responseKey: 'found',
          payload: {
            system: { resourceName: 'store' },
            collection: 'loans',
            operation: 'find',
            sort: { a: -1 },
          },
        }),
        node('choose', 'CONDITION', ['sub', 'end'], {
          conditions: [
            { id: 'k1', expression: 'a > 1', nextNodeId: 'sub', order: 1 },
            { id: 'k2', nextNodeId: 'end', order: 2, isDefault: true },
          ],
        }),
        node('sub', 'SUBWORKFLOW', ['end'], {
          responseKey: 'r',
          payload: { workflow: { resourceName: 'other' } },
        }),
      ]),
      workflow(undefined, { name: 'other', inputSchema: { type: 'object' } }),
    ],
    processes: [{ file: 'processes/a.bpmn', bpmn: '<a/>' }],
  });
}

/** Returns the codes of all problems that the service reports: first about the structure, then about node payloads. */
async function codesFor(document: unknown): Promise<string[]> {
  const service = withoutProcesses();
  const { package: pkg, problems } = service.parse(document);
  if (pkg === null) {
    return problems.map(({ code }) => code);
  }
  const libraries = [{ appId: 'scoring', buildId: 'b1', processes: [], workflows: [], systems: [] }];
  const { problems: found } = await service.check(pkg, { appId: 'loans', libraries });
  return found.map(({ code }) => code);
}

type Path = (string | number)[];

/** Returns the paths of all values in a document. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) {
    return [at];
  }
  const members = Object.entries(value).map(([key, member]): [string | number, unknown] => [
    Array.isArray(value) ? Number(key) : key,
    member,
  ]);
  return [at, ...members.flatMap(([key, member]) => pathsOf(member, [...at, key]))];
}

/** Returns a copy in which the value at a path is replaced, or removed if the new value is undefined. */
function changed(document: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(document) as Record<string | number, unknown>;
  let holder = copy;
  for (const step of path.slice(0, -1)) {
    holder = holder[step] as Record<string | number, unknown>;
  }
  const last = path.at(-1);
  if (last === undefined) {
    return value;
  }
  if (value === undefined && !Array.isArray(holder)) {
    delete holder[last];
  } else {
    holder[last] = value ?? null;
  }
  return copy;
}

/** Warnings about a valid document. */
const WARNINGS = ['DEFAULT_MISSING', 'NODE_TYPE_NOT_RUN'];

describe('published JSON Schemas', () => {
  let validate: ValidateFunction;
  beforeAll(() => {
    const ajv = new Ajv2020({ strict: false });
    validate = ajv.compile(publishedSchemas()['application-package.schema.json'] ?? {});
  });

  it.each(names)('%s in docs/schemas matches the code', (name) => {
    const committed = JSON.parse(readFileSync(`docs/schemas/${name}`, 'utf8')) as unknown;
    expect(committed).toEqual(publishedSchemas()[name]);
  });

  it.each(names)('%s is a self-contained JSON Schema (2020-12)', (name) => {
    const schema = publishedSchemas()[name] ?? {};
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    expect(() => new Ajv2020({ strict: false }).compile(schema)).not.toThrow();
  });

  it('accept a document that the service accepts', async () => {
    expect((await codesFor(richDocument())).filter((code) => !WARNINGS.includes(code))).toEqual([]);
    expect(validate(richDocument()), JSON.stringify(validate.errors)).toBe(true);
  });

  it('agree with the service about randomly changed packages', async () => {
    const paths = pathsOf(richDocument());
    const values = fc.oneof(
      fc.constantFrom<unknown>(
        undefined,
        null,
        '',
        0,
        -1,
        1.5,
        true,
        [],
        {},
        'x y',
        '.',
        '..',
        'MCP',
        'CUSTOM_AGENT',
      ),
      fc.string({ maxLength: 20 }),
      fc.constant('x'.repeat(5_000)),
      fc.record({ unknownMember: fc.integer() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), values, async (path, value) => {
        const document = changed(richDocument(), path, value);
        const codes = await codesFor(document);
        const isValid = validate(document);
        const said = JSON.stringify({ path, value, codes, errors: validate.errors });
        if (codes.some((code) => SHAPE.test(code) && code !== 'SECRET_IN_PACKAGE')) {
          expect(isValid, said).toBe(false);
        }
        if (!isValid) {
          expect(codes, said).not.toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  }, 60_000);

  it('describe the graph that the compiler produces', async () => {
    const xml = `<?xml version="1.0"?>
      <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:test">
        <process id="p" isExecutable="true">
          <startEvent id="s" /><userTask id="t" /><endEvent id="e" />
          <sequenceFlow id="f1" sourceRef="s" targetRef="t" /><sequenceFlow id="f2" sourceRef="t" targetRef="e" />
        </process>
      </definitions>`;
    const { definitions } = await new ProcessCompiler().compile({ name: 'p', xml }, { appId: 'a' });
    const isGraph = new Ajv2020({ strict: false }).compile(
      publishedSchemas()['process-graph.schema.json'] ?? {},
    );
    expect(definitions).toHaveLength(1);
    expect(isGraph(definitions[0]), JSON.stringify(isGraph.errors)).toBe(true);
    expect(isGraph({ ...definitions[0], format: 2 })).toBe(false);
  });
});
