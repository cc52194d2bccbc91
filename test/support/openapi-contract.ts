import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenAPIObject } from '@nestjs/swagger';

type Responses = Record<string, { content?: Record<string, { schema: object }> }>;
type Paths = Record<string, Record<string, { responses: Responses }>>;

const DOCUMENT_ID = 'openapi';
const ERROR_BODY = '#/components/schemas/ErrorResponseDto';

/** A response as it came over the wire. */
export interface WireResponse {
  status: number;
  contentType: string;
  body: unknown;
}

/** Holds responses against an OpenAPI document: an undocumented status, type or field is an error. */
export class OpenApiContract {
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly templates: { pattern: RegExp; template: string }[];

  constructor(private readonly document: OpenAPIObject) {
    this.ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema({ ...closed(document), $id: DOCUMENT_ID });
    this.templates = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/[.[\]()]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    }));
  }

  /** @throws Error that says what the document does not allow */
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
    const type = response.contentType.split(';')[0] ?? '';
    if (type === 'application/problem+json') {
      this.checkSchema(ERROR_BODY, withoutProblem(response.body), where);
      return;
    }
    if (documented.content?.[type] === undefined) {
      throw new Error(`${where}: the content type "${type}" is not documented`);
    }
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      String(response.status),
      'content',
      type,
      'schema',
    ];
    this.checkSchema(`#/${pointer.map(escape).join('/')}`, response.body, where);
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

/** The error body without the members that RFC 9457 adds. */
function withoutProblem(body: unknown): unknown {
  const { type: _type, title: _title, detail: _detail, ...rest } = body as Record<string, unknown>;
  return rest;
}

/** A copy in which objects with named properties allow no others, so that a field too many is found. */
function closed(value: unknown): object {
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
