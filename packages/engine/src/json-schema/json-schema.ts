import { isJsonObject, jsonDepth, jsonSize, type JsonObject } from '../json/json.js';
import { didYouMean } from '../support/nearest-name.js';
import { runWithoutYielding, type YieldingWork } from '../support/yield-event-loop.js';
import {
  SchemaSyntaxError,
  SCHEMA_LIMITS,
  type CheckCost,
  type CompiledSchema,
  type SchemaFault,
} from './json-schema.types.js';
import type { SchemaOrigin } from './dialect.js';
import { ANYTHING, SCHEMA, SCHEMA_MAP, type Kind } from './keyword.types.js';
import { KEYWORDS, TYPE_NAMES } from './keywords.js';
import { SchemaDocument, SchemaRun } from './schema-run.js';

const ANNOTATIONS =
  '$schema $id $comment title description default deprecated readOnly writeOnly examples example ' +
  'contentEncoding contentMediaType contentSchema';
/** Keywords that assert nothing on their own; some contain schemas. */
const NON_ASSERTING: ReadonlyMap<string, Kind> = new Map([
  ...ANNOTATIONS.split(' ').map((name) => [name, ANYTHING] as const),
  ['$defs', SCHEMA_MAP],
  ['definitions', SCHEMA_MAP],
  ['then', SCHEMA],
  ['else', SCHEMA],
]);

const SHORT_TYPE = 3;

/**
 * Compiles a JSON Schema: draft 2020-12, or the draft that a foreign schema declares. No code is generated and nothing is fetched;
 * references resolve within the document. Patterns are RE2, which does not backtrack. The work of a check is bounded.
 * @throws SchemaSyntaxError when a keyword is unknown or has a wrong value, a reference does not resolve, or the schema is too large
 */
export function compileSchema(schema: JsonObject, origin: SchemaOrigin = 'own'): CompiledSchema {
  const document = readSchema(schema, origin);
  const steps = (value: unknown, cost?: CheckCost): YieldingWork<SchemaFault[]> =>
    new SchemaRun(document, cost).faultSteps(value);
  return { check: (value, cost) => runWithoutYielding(steps(value, cost)), steps: (value) => steps(value) };
}

/**
 * Reads a schema for {@link SchemaRun}.
 * @throws SchemaSyntaxError as `compileSchema`
 */
export function readSchema(schema: JsonObject, origin: SchemaOrigin = 'own'): SchemaDocument {
  if (jsonDepth(schema) > SCHEMA_LIMITS.depth || jsonSize(schema) > SCHEMA_LIMITS.bytes) {
    throw new SchemaSyntaxError(
      `A schema has at most ${SCHEMA_LIMITS.depth} levels and ${SCHEMA_LIMITS.bytes} bytes.`,
    );
  }
  const document = new SchemaDocument(schema, origin);
  new SchemaVerifier(document).verify(schema, '#');
  return document;
}

class SchemaVerifier {
  private patternSteps = 0;

  constructor(private readonly document: SchemaDocument) {}

  /** @throws SchemaSyntaxError */
  verify(schema: unknown, at: string): void {
    if (typeof schema === 'boolean') {
      return;
    }
    if (!isJsonObject(schema)) {
      throw new SchemaSyntaxError(`${at} must be a schema: an object, true or false.`);
    }
    for (const [name, value] of Object.entries(schema)) {
      const place = `${at}/${name}`;
      const kind = verifyKeyword(name, value, place);
      if (name === '$ref' && this.document.references.target(schema) === undefined) {
        throw new SchemaSyntaxError(`${place}: "${String(value)}" does not resolve within this schema.`);
      }
      patternsOf(name, value).forEach((source) => this.compile(source, place));
      for (const [step, child] of kind.children?.(value) ?? []) {
        this.verify(child, step === undefined ? place : `${place}/${step}`);
      }
    }
  }

  private compile(source: string, at: string): void {
    try {
      this.document.patterns.compile(source, (steps) => this.charge(steps, at));
    } catch (error) {
      if (error instanceof SchemaSyntaxError) {
        throw error;
      }
      throw new SchemaSyntaxError(`${at}: "${source.slice(0, 100)}" is not an RE2 pattern.`);
    }
  }

  private charge(steps: number, at: string): void {
    this.patternSteps += steps;
    if (this.patternSteps > SCHEMA_LIMITS.patternSteps) {
      throw new SchemaSyntaxError(
        `${at}: the patterns of this schema are too large in total. Shorten them, write smaller numbers in {…}, ` +
          'and use fewer classes such as \\pL and fewer ranges after (?i).',
      );
    }
  }
}

function verifyKeyword(name: string, value: unknown, at: string): Kind {
  const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  const kind = keyword ?? NON_ASSERTING.get(name);
  if (kind === undefined) {
    const hint = didYouMean(name, [...NON_ASSERTING.keys(), ...Object.keys(KEYWORDS)]);
    throw new SchemaSyntaxError(`${at}: the keyword ${name} is not supported.${hint}`);
  }
  if (keyword?.accepts(value) === false) {
    throw new SchemaSyntaxError(`${at} must be ${kind.kind}.${name === 'type' ? suggestType(value) : ''}`);
  }
  return kind;
}

/** Returns a hint for a wrong type, also for the short names that programming languages use. */
function suggestType(value: unknown): string {
  const wrong = [value].flat().find((type) => typeof type === 'string' && !TYPE_NAMES.includes(type));
  if (typeof wrong !== 'string') {
    return '';
  }
  const prefix = wrong.length < SHORT_TYPE ? undefined : wrong.toLowerCase();
  const long = TYPE_NAMES.find((type) => prefix !== undefined && type.startsWith(prefix));
  return didYouMean(long ?? wrong, TYPE_NAMES);
}

function patternsOf(name: string, value: unknown): string[] {
  if (name === 'pattern') {
    return [String(value)];
  }
  return name === 'patternProperties' ? Object.keys(value as object) : [];
}
