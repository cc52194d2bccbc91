import { z } from 'zod';
import { idRule, jsonObjectRule, textRule } from './rules.js';
import { referenceSchema } from './workflow.schema.js';

const templateRule = z.string().max(4_096);
const templatesRule = z.record(z.string().min(1).max(128), templateRule);

/** `payload` of a REST_ENDPOINT node: one call of an endpoint of a REST system. The body is `inputBody`. */
export const restPayloadSchema = z
  .strictObject({
    system: referenceSchema.describe('A REST system.'),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).describe('HTTP method.'),
    path: templateRule
      .regex(/^(\/|$)/, 'must start with "/"')
      .default('')
      .describe('Path below the base URL of the system; may contain ${…}.'),
    queryParameters: templatesRule.default({}).describe('Values may contain ${…}.'),
    headers: templatesRule.default({}).describe('Values may contain ${…}; never credentials.'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(300)
      .nullable()
      .default(null)
      .describe('Timeout in seconds; null for the limit of the deployment.'),
  })
  .meta({ id: 'RestEndpointPayload', description: 'payload of a REST_ENDPOINT node.' });

/** Operations of a NOSQL_DB system (docs/process-semantics.md, section 13). */
export const DATA_OPERATIONS = [
  'find',
  'findOne',
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'deleteOne',
  'deleteMany',
] as const;

/** `payload` of a DATA_SOURCE node: one operation on a collection of a NOSQL_DB system. Values may contain `${…}`. */
export const dataSourcePayloadSchema = z
  .strictObject({
    system: referenceSchema.describe('A NOSQL_DB system.'),
    collection: idRule.describe('Collection of the data source.'),
    operation: z.enum(DATA_OPERATIONS).describe('Operation on the collection.'),
    filter: jsonObjectRule.default({}).describe('Required, and not empty, for updates and deletions.'),
    sort: z
      .record(textRule(1, 255), z.union([z.literal(1), z.literal(-1)]))
      .nullable()
      .default(null)
      .describe('1 for ascending, -1 for descending, by field.'),
    projection: z
      .record(textRule(1, 255), z.union([z.literal(0), z.literal(1)]))
      .nullable()
      .default(null)
      .describe('1 for fields to include, 0 for fields to exclude.'),
    skip: z.int().min(0).max(1_000_000).default(0).describe('Number of documents to skip.'),
    limit: z.int().min(1).max(10_000).default(100).describe('Maximum number of documents to read.'),
    document: jsonObjectRule.nullable().default(null).describe('insertOne.'),
    documents: z
      .union([z.array(jsonObjectRule), z.string().max(4_096)])
      .nullable()
      .default(null)
      .describe('insertMany: documents, or ${…} of a list.'),
    update: jsonObjectRule.nullable().default(null).describe('updateOne and updateMany.'),
  })
  .meta({ id: 'DataSourcePayload', description: 'payload of a DATA_SOURCE node.' });

/**
 * `payload` of an END node that ends the run with a BPMN error. Codes have no surrounding spaces, since codes in BPMN files are trimmed. An
 * empty code is reported once, as too short.
 */
export const endPayloadSchema = z
  .strictObject({
    errorCode: textRule(1, 255)
      .regex(/^(\S(.*\S)?)?$/s, 'must not begin or end with a space')
      .describe('Code of the BPMN error with which the run ends.'),
  })
  .meta({ id: 'EndPayload', description: 'payload of an END node that throws a BPMN error.' });

/** `payload` of a SUBWORKFLOW node that has no subWorkflowResourceDefinitionId. */
export const subworkflowPayloadSchema = z
  .strictObject({ workflow: referenceSchema.describe('The workflow to run.') })
  .meta({ id: 'SubworkflowPayload', description: 'payload of a SUBWORKFLOW node.' });
