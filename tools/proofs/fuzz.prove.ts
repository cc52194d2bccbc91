import type { OpenAPIObject } from '@nestjs/swagger';
import { randomInt } from 'node:crypto';
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { Agent } from 'undici';
import { dereferenced, OpenApiContract } from '../../test/support/openapi-contract.js';
import { ApiClient } from './support/api-client.js';
import { prove, type Proof } from './support/proof.js';
import { mutated, nasty, valid, type Schema } from './support/schema-arbitrary.js';

const WORKERS = 8;
const SYSTEMS = 10;
const METHODS = ['get', 'patch', 'post', 'delete'] as const;

interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface ApiDocument {
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
  components: { schemas: Record<string, Schema> };
}

/** A generated request; counterexamples are printed in this form. */
interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export const proof: Proof = {
  name: 'fuzz',
  claim: 'every request generated from the OpenAPI document, valid or not, gets a documented response',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mysql'],
  async run(environment) {
    const total = environment.short ? 480 : 100_000;
    const service = await environment.startService(await environment.emptyDatabase(), {
      EGRESS_ALLOW: '127.0.0.1',
      'mcpLimits.testTimeoutMs': '500',
      LOG_LEVEL: 'fatal',
    });
    const token = await environment.token();
    const shared = (await (await fetch(`${service.url}/docs-json`)).json()) as OpenAPIObject;
    const document = dereferenced(shared) as unknown as ApiDocument;
    const sender = new Sender(service.url, document);
    const requests = requestsOf(document, { token, ids: await someIds(new ApiClient(service.url, token)) });
    const seed = randomInt(2 ** 31);
    const runs = Array.from({ length: WORKERS }, (_, worker) =>
      fc.assert(
        fc.asyncProperty(requests, (fuzzed) => sender.send(fuzzed)),
        { numRuns: total / WORKERS, seed: seed + worker },
      ),
    );
    await Promise.all(runs);
    await sender.close();
    return `${total} requests, seed ${seed}: 0 x 5xx, 0 undocumented; answers ${sender.summary()}`;
  },
};

/** Sends requests and checks every response against the document. */
class Sender {
  private readonly agent = new Agent({ connections: WORKERS });
  private readonly contract: OpenApiContract;
  private readonly counts = new Map<number, number>();

  constructor(
    private readonly url: string,
    document: ApiDocument,
  ) {
    this.contract = new OpenApiContract(document as never);
  }

  async send({ method, path, headers, body }: FuzzRequest): Promise<void> {
    // Passing origin and path separately keeps the client from resolving "..", which the service must handle.
    const response = await this.agent.request({
      origin: this.url,
      path,
      method: method.toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.body.text();
    const status = response.statusCode;
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
    prove(status < 500, `${status} ${text}`);
    const contentType = String(response.headers['content-type']);
    prove(/^application\/(problem\+)?json/.test(contentType), `content type ${contentType}`);
    this.contract.check(method, path.split('?')[0] ?? '', { status, contentType, body: JSON.parse(text) });
  }

  summary(): string {
    return [...this.counts]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ');
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** Creates systems and returns their ids, so that requests get past 404. */
async function someIds(client: ApiClient): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: SYSTEMS }, (_, index) => client.create(`fuzz-${index}`)),
  );
  await client.close();
  return answers.flatMap(({ body }) => [String(body['resourceId']), String(body['id'])]);
}

function requestsOf(document: ApiDocument, known: { token: string; ids: string[] }): Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) =>
      item[method] === undefined ? [] : [{ method, path, operation: item[method] }],
    ),
  );
  return fc.oneof(
    ...operations.map(({ method, path, operation }) =>
      fc
        .record({
          method: fc.constant(method),
          path: pathOf(path, operation, known.ids),
          headers: headersOf(known.token),
          body: bodyOf(operation, document),
        })
        .map(({ body, ...rest }) => (body === undefined ? rest : { ...rest, body })),
    ),
  );
}

function pathOf(template: string, { parameters = [] }: Operation, ids: string[]): Arbitrary<string> {
  const texts = nasty.map((value) => wellFormed(typeof value === 'string' ? value : JSON.stringify(value)));
  const segment = (name: string): Arbitrary<string> =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          ...(!/^(app|version)Id$/.test(name) ? ids : ['prove-app', 'prove-version']),
        ),
      },
      { weight: 2, arbitrary: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/) },
      { weight: 1, arbitrary: texts.map(encodeURIComponent) },
      { weight: 1, arbitrary: fc.constantFrom('%zz', '%00', '%2f', '..', '%c0%af') },
    );
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const query = fc.record(
    Object.fromEntries(
      inQuery.map(({ name, schema }) => [
        name,
        fc.oneof(valid(schema, () => ({})).map(toText), texts).map(wellFormed),
      ]),
    ),
    { requiredKeys: [] },
  );
  return fc.tuple(fc.tuple(...inPath.map(({ name }) => segment(name))), query).map(([segments, members]) => {
    const path = inPath.reduce(
      (text, { name }, index) => text.replace(`{${name}}`, () => segments[index] ?? ''),
      template,
    );
    const search = new URLSearchParams(members as Record<string, string>).toString();
    return search === '' ? path : `${path}?${search}`;
  });
}

function headersOf(token: string): Arbitrary<Record<string, string>> {
  const authorization = fc.oneof(
    { weight: 20, arbitrary: fc.constant(`Bearer ${token}`) },
    { weight: 1, arbitrary: fc.constantFrom('Bearer', 'Bearer x', `Basic ${token}`, `Bearer ${token}x`, '') },
  );
  return fc
    .record(
      {
        authorization,
        'content-type': fc.oneof(
          { weight: 20, arbitrary: fc.constant('application/json') },
          { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json; charset=latin1', '') },
        ),
        accept: fc.constantFrom('*/*', 'application/json', 'application/problem+json', 'text/html'),
        'x-request-id': fc.string({ maxLength: 80, unit: fc.constantFrom(...'abc-_ 019{}<>') }),
      },
      { requiredKeys: ['authorization', 'content-type'] },
    )
    .map((headers) => headers as Record<string, string>);
}

function bodyOf({ requestBody }: Operation, document: ApiDocument): Arbitrary<string | undefined> {
  const schema = requestBody?.content['application/json']?.schema;
  if (schema === undefined) {
    return fc.constant(undefined);
  }
  const resolve = (ref: string): Schema => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
  const values = valid(schema, resolve);
  const text = fc.oneof(values, mutated(values)).map((value) => JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 30, arbitrary: text },
    { weight: 1, arbitrary: text.map((whole) => whole.slice(0, -1)) },
    { weight: 1, arbitrary: fc.string() },
  );
}

/** Replaces lone surrogates, which cannot be part of a URL. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** Returns a parameter value as text; String() would fail for some objects. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
