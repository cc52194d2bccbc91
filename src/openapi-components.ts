import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';

type Reference = { $ref: string };

interface SchemaObject {
  type?: string | string[];
  format?: string;
  maximum?: number;
  properties?: Schemas;
  required?: string[];
  [keyword: string]: unknown;
}
type Schemas = Record<string, SchemaObject>;
interface ParameterObject {
  name: string;
}
interface ErrorExample {
  error: string;
  message: string;
  status: number;
}
interface ResponseObject {
  headers?: Record<string, object>;
  content?: Record<string, { schema: SchemaObject | Reference; example?: unknown }>;
}

interface Operation {
  operationId: string;
  parameters?: (ParameterObject | Reference)[];
  requestBody?: { content: Record<string, { schema: object }> };
  security?: object[];
  responses: Record<string, ResponseObject>;
}

const SCHEMAS = '#/components/schemas/';
/** Members that RFC 9457 adds to the error body. */
const PROBLEM_MEMBERS = {
  type: {
    type: 'string',
    enum: ['about:blank'],
    description: 'The error has no meaning beyond its HTTP status (RFC 9457, section 4.2.1).',
  },
  title: { type: 'string', description: 'HTTP reason phrase.', example: 'Conflict' },
  detail: {
    type: 'string',
    description: 'Description of the error: `details`, or `message` if there are none.',
  },
} as const satisfies Schemas;
const INT32_MAX = 2 ** 31 - 1;
/** Statuses of every route. Their shared responses are named after the status, not the message. */
const COMMON_STATUSES: ReadonlySet<unknown> = new Set([400, 401, 429, 500, 503]);
/** Maximum length of a component name. Longer names would be whole sentences. */
const NAME_MAX = 60;

/**
 * Post-processes the OpenAPI document that Nest generates: removes the `Dto` suffix from schema names, documents errors
 * as problem+json too, adds the widths of integers, and moves parts that several operations share into `components`.
 * @throws Error when two schemas would get the same name
 */
export function withSharedComponents(document: OpenAPIObject): OpenAPIObject {
  const named = withoutClassNames(document);
  const operations = operationsOf(named);
  addProblems(operations, (named.components?.schemas ?? {}) as Schemas);
  addIntegerWidths(named);
  const headers = { ...named.components?.headers, ...shareHeaders(operations) };
  const responses = shareResponses(operations);
  const parameters = shareParameters(operations);
  return { ...named, components: { ...named.components, headers, responses, parameters } } as OpenAPIObject;
}

/** Returns every operation of a document. Responses must not be shared yet. */
export function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path) as Operation[]);
}

/** Removes `Dto` from schema names: the suffix describes our classes, and generated clients would repeat it. */
function withoutClassNames(document: OpenAPIObject): OpenAPIObject {
  // Covers `$ref` and the references of discriminators, which are strings under arbitrary names.
  const text = JSON.stringify(document, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(SCHEMAS) ? value.replace(/Dto$/, '') : value,
  );
  const copy = JSON.parse(text) as OpenAPIObject;
  const schemas: Schemas = {};
  for (const [name, schema] of Object.entries((copy.components?.schemas ?? {}) as Schemas)) {
    const short = name.replace(/Dto$/, '');
    if (short in schemas) {
      throw new Error(`Two schemas are named ${short}.`);
    }
    schemas[short] = schema;
  }
  return { ...copy, components: { ...copy.components, schemas } };
}

/**
 * Documents the responses for `Accept: application/problem+json` next to the usual error bodies (docs/contract.md,
 * section 1).
 */
function addProblems(operations: readonly Operation[], schemas: Schemas): void {
  for (const { content = {} } of operations.flatMap(errorsOf)) {
    const { $ref = '' } = (content['application/json']?.schema ?? {}) as Partial<Reference>;
    const name = $ref.slice(SCHEMAS.length);
    const schema = schemas[name];
    if (schema !== undefined && isErrorBody(schema)) {
      const problem = name.replace(/(Response)?$/, 'Problem');
      schemas[problem] ??= problemOf(schema);
      content['application/problem+json'] = { schema: { $ref: `${SCHEMAS}${problem}` } };
    }
  }
}

function problemOf(schema: SchemaObject): SchemaObject {
  return {
    ...schema,
    properties: { ...PROBLEM_MEMBERS, ...schema.properties },
    required: [...Object.keys(PROBLEM_MEMBERS), ...(schema.required ?? [])],
  };
}

function isErrorBody({ properties = {} }: SchemaObject): boolean {
  return ['error', 'message', 'status'].every((member) => member in properties);
}

function errorsOf({ responses }: Operation): ResponseObject[] {
  return Object.entries(responses).flatMap(([status, response]) => (isError(status) ? [response] : []));
}

function isError(status: string): boolean {
  return Number(status) >= 400;
}

/** Adds the width of integers. Without one, clients in typed languages assume 32 bits. */
function addIntegerWidths(part: unknown): void {
  if (typeof part !== 'object' || part === null) {
    return;
  }
  const schema = part as SchemaObject;
  if ([schema.type].flat().includes('integer')) {
    schema.format ??= (schema.maximum ?? Infinity) <= INT32_MAX ? 'int32' : 'int64';
  }
  for (const [key, member] of Object.entries(part)) {
    if (!['example', 'examples', 'default'].includes(key)) {
      addIntegerWidths(member);
    }
  }
}

function shareHeaders(operations: readonly Operation[]): Record<string, object> {
  const parts = new SharedParts<object>();
  for (const { operationId, responses } of operations) {
    for (const { headers = {} } of Object.values(responses)) {
      for (const [name, header] of Object.entries(headers).filter(([, one]) => !('$ref' in one))) {
        const names = namesIn(operationId, nameOf(name));
        parts.add(header, names, (reference) => (headers[name] = reference));
      }
    }
  }
  return parts.share('headers');
}

function shareResponses(operations: readonly Operation[]): Record<string, ResponseObject> {
  const parts = new SharedParts<ResponseObject>();
  for (const { operationId, responses } of operations) {
    for (const [status, response] of Object.entries(responses).filter(([one]) => isError(one))) {
      const names = namesOfResponse(operationId, status, response);
      parts.add(response, names, (reference) => (responses[status] = reference as ResponseObject));
    }
  }
  return parts.share('responses');
}

function namesOfResponse(operationId: string, status: string, { content }: ResponseObject): string[] {
  const example = content?.['application/json']?.example as Partial<ErrorExample> | undefined;
  // Responses of other protocols have neither error nor message.
  if (example?.error === undefined) {
    return [nameOf(STATUS_CODES[status] ?? status)];
  }
  const { error, message = '' } = example;
  const usual = COMMON_STATUSES.has(Number(status)) ? [nameOf(error)] : [];
  return [...usual, nameOf(message), ...namesIn(operationId, nameOf(error)).slice(1)];
}

function shareParameters(operations: readonly Operation[]): Record<string, ParameterObject> {
  const parts = new SharedParts<ParameterObject>();
  for (const { operationId, parameters = [] } of operations) {
    parameters.forEach((parameter, index) => {
      const shared = parameter as ParameterObject;
      parts.add(
        shared,
        namesIn(operationId, nameOf(shared.name)),
        (reference) => (parameters[index] = reference),
      );
    });
  }
  return parts.share('parameters');
}

function namesIn(operationId: string, name: string): string[] {
  return [name, `${name}Of${nameOf(operationId)}`];
}

/** `Process instance not found.` becomes `ProcessInstanceNotFound`. */
function nameOf(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Collects equal parts of operations, with the names that each may get, and replaces them by references. */
class SharedParts<Part extends object> {
  private readonly found = new Map<
    string,
    { part: Part; names: string[]; replace: ((reference: Reference) => void)[] }
  >();

  add(part: Part, names: string[], replace: (reference: Reference) => void): void {
    const text = JSON.stringify(part);
    const known = this.found.get(text) ?? { part, names, replace: [] };
    known.replace.push(replace);
    this.found.set(text, known);
  }

  /**
   * Returns the parts that occur several times, by name. If different parts may have the same name, the most frequent
   * one gets it.
   */
  share(kind: string): Record<string, Part> {
    const shared: Record<string, Part> = {};
    const frequent = [...this.found.values()].filter(({ replace }) => replace.length > 1);
    for (const { part, names, replace } of frequent.toSorted(
      (one, other) => other.replace.length - one.replace.length,
    )) {
      const free = (name: string): boolean => name !== '' && name.length <= NAME_MAX && !(name in shared);
      const name = names.find(free);
      if (name !== undefined) {
        shared[name] = part;
        replace.forEach((replaceBy) => replaceBy({ $ref: `#/components/${kind}/${name}` }));
      }
    }
    return shared;
  }
}
