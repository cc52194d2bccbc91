import { jsonSize, type JsonObject } from '#engine/json';
import { SchemaSyntaxError, compileSchema, describeMisspeltRequired } from '#engine/json-schema';
import type { Place, PackageProblems } from '../model/package-problems.js';
import { packageLimits } from '../package.limits.js';

/** Rejects a JSON Schema that cannot be compiled or is too large. */
export function checkSchema(schema: JsonObject, what: string, place: Place, problems: PackageProblems): void {
  if (jsonSize(schema) > packageLimits.schemaBytes) {
    const message = `${what}: a JSON Schema has at most ${packageLimits.schemaBytes} bytes.`;
    problems.error('SCHEMA_INVALID', place, message);
    return;
  }
  try {
    compileSchema(schema);
    const slip = describeMisspeltRequired(schema);
    if (slip !== undefined) {
      problems.warning('REQUIRED_UNKNOWN', place, `${what}: ${slip}`);
    }
  } catch (error) {
    if (!(error instanceof SchemaSyntaxError)) {
      throw error;
    }
    problems.error('SCHEMA_INVALID', place, `${what}: ${error.message}`);
  }
}
