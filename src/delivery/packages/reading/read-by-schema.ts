import { z } from 'zod';
import { isJsonObject } from '#engine/json';
import { nearestName } from '#engine/support';
import { pointerTo, shortened, type PackageProblems } from '../model/package-problems.js';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** Maximum number of unknown members per value for which a hint is sought, since a hostile value could have a million. */
const MAX_HINTED = 20;

/** Readable names of expected types. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

/** Default message of zod for unions without a message of their own. */
const DEFAULT_MESSAGE = 'Invalid input';

/** A member that an object must not have. */
interface UnknownMember {
  /** Path of the object. */
  path: PropertyKey[];
  name: string;
  /** The member that was probably meant; undefined if none is close. */
  meant: string | undefined;
}

/** Problems of the shape of a value. */
interface ShapeFaults {
  unknown: UnknownMember[];
  /** The other problems, without those caused only by a misspelt member. */
  issues: Issue[];
}

/** Parses a value with a schema, and returns it with defaults, or its problems. A misspelt member is reported once, not as missing too. */
export function parseShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: ShapeFaults } {
  const misspellings = new Misspellings();
  const { success, data, error } = schema.safeParse(value, { error: (issue) => misspellings.note(issue) });
  return success ? { data } : { faults: misspellings.faultsIn(error.issues) };
}

/** Returns a hint about the member that was probably meant, or an empty string. */
function hintFor({ meant }: UnknownMember): string {
  return meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
}

/** Returns whether a missing member is present under a misspelt name. */
export function isMisspelt(name: string, object: object, known: readonly string[]): boolean {
  const unknown = Object.keys(object).filter((other) => !known.includes(other));
  return unknown.slice(0, MAX_HINTED).some((other) => nearestName(other, known) === name);
}

/** Finds misspelt members with information that zod provides only while it parses. */
class Misspellings {
  /** Names of the known and of the missing members of objects, by path. */
  private readonly known = new Map<string, { names: readonly string[]; lacking: ReadonlySet<string> }>();
  /** Misspelt discriminators of unions, by the paths of the issues. */
  private readonly discriminators = new Map<string, UnknownMember>();

  note({ code, inst, input, path = [], discriminator }: RawIssue): undefined {
    if (code === 'unrecognized_keys' && inst instanceof z.ZodObject) {
      const names = Object.keys(inst.shape);
      const lacking = names.filter((name) => isJsonObject(input) && !Object.hasOwn(input, name));
      this.known.set(keyOf(path), { names, lacking: new Set(lacking) });
    } else if (code === 'invalid_union' && typeof discriminator === 'string' && isJsonObject(input)) {
      const names = Object.hasOwn(input, discriminator) ? [] : Object.keys(input).slice(0, MAX_HINTED);
      const name = names.find((near) => nearestName(near, [discriminator]) !== undefined);
      if (name !== undefined) {
        this.discriminators.set(keyOf(path), { path: path.slice(0, -1), name, meant: discriminator });
      }
    }
  }

  faultsIn(issues: readonly Issue[]): ShapeFaults {
    const unknown = issues.flatMap((issue) => this.unknownIn(issue));
    const absent = new Set(unknown.filter((member) => this.lacks(member)).map(meantPath));
    const isCovered = (issue: Issue): boolean =>
      issue.code === 'unrecognized_keys' ||
      this.discriminators.has(keyOf(issue.path)) ||
      absent.has(keyOf(issue.path));
    return { unknown, issues: issues.filter((issue) => !isCovered(issue)) };
  }

  /** Returns whether the member that was meant is missing. */
  private lacks({ path, meant }: UnknownMember): boolean {
    return meant !== undefined && this.known.get(keyOf(path))?.lacking.has(meant) === true;
  }

  private unknownIn(issue: Issue): UnknownMember[] {
    const { path } = issue;
    const discriminator = this.discriminators.get(keyOf(path));
    if (issue.code !== 'unrecognized_keys') {
      return discriminator === undefined ? [] : [discriminator];
    }
    const known = this.known.get(keyOf(path))?.names ?? [];
    return issue.keys.map((name, index) => ({
      path,
      name,
      meant: index < MAX_HINTED ? nearestName(name, known) : undefined,
    }));
  }
}

/** Returns whether an issue reports a missing member. */
function isMissing(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
}

function meantPath({ path, meant = '' }: UnknownMember): string {
  return keyOf([...path, meant]);
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path);
}

/**
 * Parses a value with a schema, and returns it with defaults.
 * @param place the file, and the path of the value in it
 * @returns undefined when the value is invalid; adds the problems
 */
export function readBySchema<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: { file: string; path: readonly PropertyKey[] },
  problems: PackageProblems,
): z.output<Schema> | undefined {
  const read = parseShape(schema, value);
  if ('data' in read) {
    return read.data;
  }
  for (const issue of read.faults.issues) {
    report(issue, place, problems);
  }
  for (const member of read.faults.unknown) {
    const element = pointerTo([...place.path, ...member.path, member.name]);
    problems.error('MEMBER_UNKNOWN', { file: place.file, element }, unknownText(member));
  }
  return undefined;
}

function report(
  issue: Issue,
  { file, path }: { file: string; path: readonly PropertyKey[] },
  problems: PackageProblems,
): void {
  const at = [...path, ...issue.path];
  const code = isMissing(issue) ? 'MEMBER_MISSING' : 'VALUE_INVALID';
  const element = at.length === 0 ? null : pointerTo(at);
  problems.error(code, { file, element }, faultText(issue, at));
}

/** Describes an invalid value in a sentence. */
export function faultText(issue: Issue, path: readonly PropertyKey[]): string {
  return `${nameOf(path)} ${ruleOf(issue)}.`;
}

/** Describes an unknown member in a sentence. */
export function unknownText(member: UnknownMember): string {
  return `"${shortened(member.name)}" is not a known member.${hintFor(member)}`;
}

function nameOf(path: readonly PropertyKey[]): string {
  const name = path.at(-1);
  if (name === undefined) {
    return 'The file';
  }
  return typeof name === 'number' ? `Element ${name}` : `"${shortened(String(name))}"`;
}

function ruleOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue) ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${listOf(issue.values)}`;
    case 'invalid_union': {
      const { options } = issue as { options?: readonly unknown[] };
      return options === undefined ? choiceOf(issue) : `must be ${listOf(options)}`;
    }
    case 'too_small':
      return `must have at least ${sizeOf(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must have at most ${sizeOf(issue.maximum, issue.origin)}`;
    default:
      return issue.message;
  }
}

/** Describes the rule of a union, none of whose options matches. */
function choiceOf({ errors, message }: z.core.$ZodIssueInvalidUnion): string {
  if (message !== DEFAULT_MESSAGE) {
    return message;
  }
  const rules = errors.flatMap(([first]) => (first === undefined ? [] : [ruleOf(first)]));
  return `must be ${[...new Set(rules)].map((rule) => rule.replace('must be ', '')).join(' or ')}`;
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' or ');
}

function sizeOf(size: number | bigint, origin: string): string {
  switch (origin) {
    case 'string':
      return `${size} characters`;
    case 'array':
      return `${size} elements`;
    default:
      return `the value ${size}`;
  }
}
