import type { z } from 'zod';

const SAFE_NAME = /^[A-Za-z0-9_$-]{1,64}$/;
/** What a value should have been, for a person. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Where a value stands: `platform.components[2].options.ca`. A name that may be a slip of the pen is not repeated. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') {
      return `${text}[${part}]`;
    }
    const name = SAFE_NAME.test(String(part)) ? String(part) : '?';
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** The rules that a value breaks, one sentence each, with the path and never the value. @param path of the value itself */
export function mistakesOf(error: z.ZodError, path: readonly PropertyKey[]): string[] {
  return error.issues.flatMap((issue) => {
    const at = [...path, ...issue.path];
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => `${pathText([...at, name])} is not a member of the format`)
      : [`${pathText(at) || 'The file'} ${ruleOf(issue)}`];
  });
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string' ? issue.message : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be at most ${issue.maximum}`
        : issue.message;
    case 'invalid_key':
      return 'has a name that is not allowed';
    default:
      return issue.message;
  }
}
