import type { z } from 'zod';
import { pointerTo, quoted, type PackageProblems } from '../model/package-problems.js';
import { isMissing, meantBy, shaped, type UnknownMember } from './shape-faults.js';

type Issue = z.core.$ZodIssue;

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
