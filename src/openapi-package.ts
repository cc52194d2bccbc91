import { publishedSchemas } from './modules/packages/schema/published-schemas.js';

/** Name of the schema of application packages in the OpenAPI document. */
const PACKAGE = 'ApplicationPackage';
const PART_PREFIX = 'Package';
const DEFINITIONS = '#/$defs/';

/**
 * The published JSON Schema of application packages, with which packages are checked too, as components of the OpenAPI document:
 * itself, and its definitions with `Package` before their names.
 */
export function packageComponents(): Record<string, unknown> {
  const {
    $schema: _schema,
    $id: _id,
    $defs = {},
    ...root
  } = moved(publishedSchemas()['application-package.schema.json']);
  const parts = Object.entries($defs).map(([name, schema]) => [PART_PREFIX + name, schema]);
  return { [PACKAGE]: root, ...Object.fromEntries(parts) };
}

/** A copy whose references lead to where its definitions stand in the OpenAPI document. */
function moved(schema: unknown): Record<string, unknown> & { $defs?: object } {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' && value.startsWith(DEFINITIONS)
        ? `#/components/schemas/${PART_PREFIX}${value.slice(DEFINITIONS.length)}`
        : value,
    ),
  ) as Record<string, unknown>;
}
