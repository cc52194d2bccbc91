import { publishedSchemas } from './modules/packages/schema/published-schemas.js';

/** Name of the schema of application packages in the OpenAPI document. */
const PACKAGE = 'ApplicationPackage';
/** Name of the schema of a node that is added or changed by itself. */
const NODE_REQUEST = 'PackageNodeRequest';
const NODE = 'WorkflowNode';
const ID = 'id';
const SCHEMAS = '#/components/schemas/';
const PART_PREFIX = 'Package';
const DEFINITIONS = '#/$defs/';

/** What is read of the schema of a node. */
interface Node {
  description?: string;
  properties?: Record<string, object>;
  required?: string[];
}

/**
 * The published JSON Schema of application packages, with which packages are checked too, as components of the OpenAPI document:
 * itself, and its definitions with `Package` before their names. A node that comes by itself may have no id: it is given, or in the path.
 */
export function packageComponents(): Record<string, unknown> {
  const {
    $schema: _schema,
    $id: _id,
    $defs = {},
    ...root
  } = moved(publishedSchemas()['application-package.schema.json']);
  const parts = Object.entries($defs).map(([name, schema]) => [PART_PREFIX + name, schema]);
  const { [NODE]: node = {} } = $defs as Record<string, Node>;
  const request = { ...node, required: node.required?.filter((member) => member !== ID) };
  const named = { type: 'object', properties: { [ID]: node.properties?.[ID] }, required: [ID] };
  const whole = { description: node.description, allOf: [{ $ref: SCHEMAS + NODE_REQUEST }, named] };
  const own = { [NODE_REQUEST]: request, [PART_PREFIX + NODE]: whole };
  return { [PACKAGE]: root, ...Object.fromEntries(parts), ...own };
}

/** A copy whose references lead to where its definitions stand in the OpenAPI document. */
function moved(schema: unknown): Record<string, unknown> & { $defs?: object } {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' && value.startsWith(DEFINITIONS)
        ? `${SCHEMAS}${PART_PREFIX}${value.slice(DEFINITIONS.length)}`
        : value,
    ),
  ) as Record<string, unknown>;
}
