import { z } from 'zod';
import { platformFileSchema } from './component.schema.js';

/** Its name in `schemas/`. */
export const PLATFORM_SCHEMA_FILE = 'platform.schema.json';

/**
 * The JSON Schema (2020-12) of the configuration file, for editors. It is made of the schema that the service itself
 * checks with, so it cannot say something else.
 */
export function platformSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(platformFileSchema, { io: 'input' });
  return { $schema, $id: 'urn:svc-platform:schema:platform:1', title: 'Platform components', ...rest };
}
