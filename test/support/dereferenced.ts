import type { OpenAPIObject } from '@nestjs/swagger';

type Components = Record<string, Record<string, unknown> | undefined>;

const SHARED = /^#\/components\/(responses|parameters|headers)\/(\w+)$/;

/**
 * A copy of an OpenAPI document in which shared responses, parameters and headers stand where they are referred to, as tests
 * read them. Schemas stay references.
 * @throws Error when a reference leads to nothing
 */
export function dereferenced(document: OpenAPIObject): OpenAPIObject {
  const components = document.components as Components;
  const put = (_key: string, value: unknown): unknown => {
    const { $ref } = (value ?? {}) as { $ref?: unknown };
    const [, kind = '', name = ''] = (typeof $ref === 'string' && SHARED.exec($ref)) || [];
    if (kind === '') {
      return value;
    }
    const shared = components[kind]?.[name];
    if (shared === undefined) {
      throw new Error(`${String($ref)} leads to nothing`);
    }
    return shared;
  };
  return { ...document, paths: JSON.parse(JSON.stringify(document.paths, put)) as OpenAPIObject['paths'] };
}
