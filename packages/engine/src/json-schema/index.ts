export { type CheckedText, checkedText } from './checked-text.js';
export { draftOf } from './dialect.js';
export { compileSchema, readSchema } from './json-schema.js';
export {
  type CompiledSchema,
  NOT_ALLOWED_RULE,
  REQUIRED_RULE,
  SCHEMA_LIMITS,
  type SchemaFault,
  SchemaSyntaxError,
  SchemaTooCostlyError,
} from './json-schema.types.js';
export { KnownData } from './known-data.js';
export { CheckWork, KnownMembers } from './known-members.js';
export { describeMisspeltRequired } from './required-names.js';
export { type SchemaPosition, SchemaReferences, positionBelow } from './schema-references.js';
export { SchemaRun } from './schema-run.js';
