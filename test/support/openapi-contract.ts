import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenAPIObject } from '@nestjs/swagger';

interface HeaderObject {
  required?: boolean;
  schema: object;
}
interface DocumentedResponse {
  content?: Record<string, { schema: object }>;
  headers?: Record<string, HeaderObject>;
}
type Responses = Record<string, DocumentedResponse>;
type Paths = Record<string, Record<string, { responses: Responses }>>;

const DOCUMENT_ID = 'openapi';
const SPECIAL_HEADERS = ['WWW-Authenticate', 'Retry-After'];
const ERROR_BODY = '#/components/schemas/ErrorResponse';

/** A response as received. */
export interface WireResponse {
  status: number;
  contentType: string;
  body: unknown;
  /** Absent for examples in the document. */
  headers?: { get(name: string): string | null };
}

/** Validates responses against an OpenAPI document. An undocumented status, content type or field is an error. */
export class OpenApiContract {
  private readonly ajv: Ajv2020;
  /** Validates headers. Their values are always strings, so numbers are parsed. Caches compiled schemas by object. */
  private readonly headerAjv = new Ajv2020({ strict: false, coerceTypes: true });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly templates: { pattern: RegExp; template: string }[];

  private readonly document: OpenAPIObject;

  constructor(shared: OpenAPIObject) {
    const document = dereferenced(shared);
    this.document = document;
    this.ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: true,
      // Compiling takes far longer than validating, so compile shared schemas only once and skip code optimization.
      inlineRefs: false,
      code: { optimize: false },
    });
    for (const ajv of [this.ajv, this.headerAjv]) {
      (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    }
    this.ajv.addSchema({ ...withoutAdditionalProperties(document), $id: DOCUMENT_ID });
    this.templates = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/[.[\]()]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    }));
  }

  /** @throws Error with the part of the response that the document does not allow */
  check(method: string, path: string, response: WireResponse): void {
    const template = this.templates.find(({ pattern }) => pattern.test(path))?.template;
    const operation = template && (this.document.paths as unknown as Paths)[template]?.[method.toLowerCase()];
    const where = `${method} ${template ?? path} ${response.status}`;
    if (template === undefined || !operation) {
      this.checkSchema(ERROR_BODY, withoutProblem(response.body), where);
      return;
    }
    const documented = operation.responses[String(response.status)];
    if (documented === undefined) {
      throw new Error(`${where}: the status is not documented`);
    }
    if (response.headers !== undefined) {
      this.checkHeaders(documented, response.headers, where);
    }
    if (documented.content === undefined && response.body === '') {
      return;
    }
    const sent = response.contentType.split(';')[0] ?? '';
    if (documented.content?.[sent] === undefined) {
      throw new Error(`${where}: the content type "${sent}" is not documented`);
    }
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      String(response.status),
      'content',
      sent,
      'schema',
    ];
    this.checkSchema(`#/${pointer.map(escape).join('/')}`, response.body, where);
  }

  /** Checks that required headers are present and valid, and that special headers are documented. */
  private checkHeaders(
    { headers = {} }: DocumentedResponse,
    sent: NonNullable<WireResponse['headers']>,
    where: string,
  ): void {
    for (const name of SPECIAL_HEADERS.filter((special) => sent.get(special) !== null)) {
      if (headers[name] === undefined) {
        throw new Error(`${where}: the header ${name} is not documented`);
      }
    }
    for (const [name, header] of Object.entries(headers)) {
      const { required = false, schema } = header;
      const value = sent.get(name);
      if (required && value === null) {
        throw new Error(`${where}: the header ${name} is missing`);
      }
      if (value !== null && !this.headerAjv.validate(schema, value)) {
        throw new Error(`${where}: the header ${name} is not as documented: ${JSON.stringify(value)}`);
      }
    }
  }

  private checkSchema(pointer: string, body: unknown, where: string): void {
    const validate = this.validators.get(pointer) ?? this.ajv.compile({ $ref: `${DOCUMENT_ID}${pointer}` });
    this.validators.set(pointer, validate);
    if (!validate(body)) {
      throw new Error(`${where}: ${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
    }
  }
}

function escape(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Returns the error body without the members that RFC 9457 adds. */
function withoutProblem(body: unknown): unknown {
  const { type: _type, title: _title, detail: _detail, ...rest } = body as Record<string, unknown>;
  return rest;
}

/** Returns a copy whose object schemas allow no additional properties, so that undocumented fields are errors. */
function withoutAdditionalProperties(value: unknown): object {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => {
      const isOpen =
        typeof member === 'object' &&
        member !== null &&
        'properties' in member &&
        !('additionalProperties' in member);
      return isOpen && (member as { type?: unknown }).type === 'object'
        ? { ...member, additionalProperties: false }
        : member;
    }),
  ) as object;
}

type Components = Record<string, Record<string, unknown> | undefined>;

const SHARED = /^#\/components\/(responses|parameters|headers)\/(\w+)$/;

/**
 * Returns a copy of an OpenAPI document with references to shared responses, parameters and headers resolved. References
 * to schemas are kept.
 * @throws Error when the target of a reference does not exist
 */
export function dereferenced(document: OpenAPIObject): OpenAPIObject {
  const components = document.components as Components;
  const resolve = (_key: string, value: unknown): unknown => {
    const { $ref } = (value ?? {}) as { $ref?: unknown };
    const [, kind = '', name = ''] = (typeof $ref === 'string' && SHARED.exec($ref)) || [];
    if (kind === '') {
      return value;
    }
    const shared = components[kind]?.[name];
    if (shared === undefined) {
      throw new Error(`The target of reference ${String($ref)} does not exist.`);
    }
    return shared;
  };
  return {
    ...document,
    paths: JSON.parse(JSON.stringify(document.paths, resolve)) as OpenAPIObject['paths'],
  };
}
