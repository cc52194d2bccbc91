import { z } from 'zod';
import { isJsonObject } from '#engine/json';
import { nearestName } from '#engine/support';
import { pointerTo, quoted, type PackageProblems } from '../model/package-problems.js';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** Unknown members of one value whose nearest names are looked for: a hostile one could have a million. */
const MAX_LOOKED_FOR = 20;

/** What a value should have been, for a person. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

/** What is said of a value that may be one of several things, where its schema has no words of its own. */
const NO_CHOICE = 'Invalid input';

/** A member that an object must not have. */
interface UnknownMember {
  /** Of the object. */
  path: PropertyKey[];
  name: string;
  /** The member that somebody most likely meant; undefined where none is near. */
  meant: string | undefined;
}

/** What is wrong with the shape of a value. */
interface ShapeFaults {
  unknown: UnknownMember[];
  /** The others, without those that only follow from a misspelt member. */
  issues: Issue[];
}

/**
 * A value as its schema describes it, with defaults for what is left out; or what is wrong with it. A misspelt member is told once,
 * not also as one that is missing.
 */
export function shaped<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: ShapeFaults } {
  const slips = new Slips();
  const { success, data, error } = schema.safeParse(value, { error: (issue) => slips.note(issue) });
  return success ? { data } : { faults: slips.faultsIn(error.issues) };
}

/** The end of a sentence about an unknown member: what was meant, where that is known. */
function meantBy({ meant }: UnknownMember): string {
  return meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
}

/** Whether a member that an object does not have stands in it under a name that is nearly its own. */
export function isMisspelt(name: string, object: object, known: readonly string[]): boolean {
  const unknown = Object.keys(object).filter((other) => !known.includes(other));
  return unknown.slice(0, MAX_LOOKED_FOR).some((other) => nearestName(other, known) === name);
}

/** Finds misspelt members with what zod knows while it reads, and does not tell afterwards. */
class Slips {
  /** Names of the members of objects, and of those that they lack, by their paths. */
  private readonly known = new Map<string, { names: readonly string[]; lacking: ReadonlySet<string> }>();
  /** Members under a wrong name whose type would have decided what else there may be, by the paths of the issues. */
  private readonly deciding = new Map<string, UnknownMember>();

  note({ code, inst, input, path = [], discriminator }: RawIssue): undefined {
    if (code === 'unrecognized_keys' && inst instanceof z.ZodObject) {
      const names = Object.keys(inst.shape);
      const lacking = names.filter((name) => isJsonObject(input) && !Object.hasOwn(input, name));
      this.known.set(keyOf(path), { names, lacking: new Set(lacking) });
    } else if (code === 'invalid_union' && typeof discriminator === 'string' && isJsonObject(input)) {
      const names = Object.hasOwn(input, discriminator) ? [] : Object.keys(input).slice(0, MAX_LOOKED_FOR);
      const name = names.find((near) => nearestName(near, [discriminator]) !== undefined);
      if (name !== undefined) {
        this.deciding.set(keyOf(path), { path: path.slice(0, -1), name, meant: discriminator });
      }
    }
  }

  faultsIn(issues: readonly Issue[]): ShapeFaults {
    const unknown = issues.flatMap((issue) => this.unknownIn(issue));
    const absent = new Set(unknown.filter((member) => this.lacks(member)).map(meantPath));
    const isTold = (issue: Issue): boolean =>
      issue.code === 'unrecognized_keys' ||
      this.deciding.has(keyOf(issue.path)) ||
      absent.has(keyOf(issue.path));
    return { unknown, issues: issues.filter((issue) => !isTold(issue)) };
  }

  /** Whether the member that was meant is not there besides. */
  private lacks({ path, meant }: UnknownMember): boolean {
    return meant !== undefined && this.known.get(keyOf(path))?.lacking.has(meant) === true;
  }

  private unknownIn(issue: Issue): UnknownMember[] {
    const { path } = issue;
    const deciding = this.deciding.get(keyOf(path));
    if (issue.code !== 'unrecognized_keys') {
      return deciding === undefined ? [] : [deciding];
    }
    const known = this.known.get(keyOf(path))?.names ?? [];
    return issue.keys.map((name, index) => ({
      path,
      name,
      meant: index < MAX_LOOKED_FOR ? nearestName(name, known) : undefined,
    }));
  }
}

/** Whether an issue says that a required member is not there. */
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
 * A value as its schema describes it, with defaults for what is left out.
 * @param place the file, and the path of the value in it
 * @returns undefined when its shape is wrong; the problems say how
 */
export function readBySchema<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: { file: string; path: readonly PropertyKey[] },
  problems: PackageProblems,
): z.output<Schema> | undefined {
  const read = shaped(schema, value);
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

/** What is wrong with a value, as a sentence. */
export function faultText(issue: Issue, path: readonly PropertyKey[]): string {
  return `${nameOf(path)} ${ruleOf(issue)}.`;
}

/** That a member must not be there, as a sentence. */
export function unknownText(member: UnknownMember): string {
  return `"${quoted(member.name)}" is no member of the format.${meantBy(member)}`;
}

function nameOf(path: readonly PropertyKey[]): string {
  const name = path.at(-1);
  if (name === undefined) {
    return 'The file';
  }
  return typeof name === 'number' ? `Element ${name}` : `"${quoted(String(name))}"`;
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

/** Of a value that may be one of several things, and is none of them. */
function choiceOf({ errors, message }: z.core.$ZodIssueInvalidUnion): string {
  if (message !== NO_CHOICE) {
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
