import { z } from 'zod';
import { processGraphSchema } from '#engine/definitions';
import {
  dataSourcePayloadSchema,
  endPayloadSchema,
  restPayloadSchema,
  subworkflowPayloadSchema,
} from './node-payload.schema.js';
import { packageSchema } from './package.schema.js';
import { workflowSchema } from './workflow.schema.js';

type Document = Record<string, unknown> & { $defs?: Record<string, Record<string, unknown>> };

const ID_PREFIX = 'urn:svc-platform:schema';
const NODE = 'WorkflowNode';
/** Schemas of `payload` by type of node. */
const PAYLOADS = {
  REST_ENDPOINT: { name: 'RestEndpointPayload', schema: restPayloadSchema },
  DATA_SOURCE: { name: 'DataSourcePayload', schema: dataSourcePayloadSchema },
  END: { name: 'EndPayload', schema: endPayloadSchema },
  SUBWORKFLOW: { name: 'SubworkflowPayload', schema: subworkflowPayloadSchema },
} as const;

/**
 * Returns the JSON Schemas (2020-12) for authors of packages and their tools, by file name. They are derived from the schemas that the
 * service checks with, so they always agree.
 */
export function publishedSchemas(): Record<string, Document> {
  return {
    'application-package.schema.json': published('application-package', 'Application package', packageSchema),
    'workflow.schema.json': published('workflow', 'Workflow', workflowSchema),
    'process-graph.schema.json': published('process-graph', 'Process graph', processGraphSchema),
  };
}

function published(name: string, title: string, schema: z.ZodType): Document {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as Document;
  const document: Document = { $schema, $id: `${ID_PREFIX}:${name}:1`, title, ...rest };
  return document.$defs?.[NODE] === undefined ? document : withPayloads(document);
}

/** Adds the dependency of `payload` on `type`, which JSON Schema can express but zod cannot. */
function withPayloads(document: Document): Document {
  const $defs = { ...document.$defs };
  for (const { schema } of Object.values(PAYLOADS)) {
    // zod puts a schema with an id, and those that it refers to, under $defs of its document.
    Object.assign($defs, (z.toJSONSchema(schema, { io: 'input' }) as Document).$defs);
  }
  const allOf = Object.entries(PAYLOADS).map(([type, { name }]) => ({
    if: {
      properties: { type: { const: type }, payload: { type: 'object', minProperties: 1 } },
      required: ['type', 'payload'],
    },
    // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: { properties: { payload: { $ref: `#/$defs/${name}` } } },
  }));
  return { ...document, $defs: { ...$defs, [NODE]: { ...$defs[NODE], allOf } } };
}
