import { discoveryLimits } from '../../discovery.limits.js';
import { SourceError } from '../../model/failures.js';
import type { z } from 'zod';
import { readFile, stat } from 'node:fs/promises';

const SAFE_NAME = /^[A-Za-z0-9_$-]{1,64}$/;
/** Readable names of expected types. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Formats a path: `platform.components[2].options.ca`. Unusual names are replaced, since a mistyped name may be a secret. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') {
      return `${text}[${part}]`;
    }
    const name = SAFE_NAME.test(String(part)) ? String(part) : '?';
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** Returns the rules that a value breaks, one sentence each, with the path and never the value. @param path path of the value */
export function mistakesOf(error: z.ZodError, path: readonly PropertyKey[]): string[] {
  return error.issues.flatMap((issue) => {
    const at = [...path, ...issue.path];
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => `${pathText([...at, name])} is not a known member`)
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

/** Groups: kind and name of the reference. `$${` stands for a literal `${`. */
const REFERENCE = /\$\$\{|\$\{(?:(env|file):([^}]*))?[^}]*\}?/g;
const MAX_DEPTH = 16;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Access to the targets of references. */
interface ReferenceReader {
  /** @returns undefined when there is no such variable */
  variable(name: string): string | undefined;
  /** @throws Error when the file cannot be read or is too large */
  file(path: string): Promise<string>;
  /** Collects messages with the path of a value, never the value or the target. */
  mistakes: string[];
}

/**
 * Replaces `${env:NAME}` and `${file:PATH}` in all strings of a document.
 * @param path path of the value, for messages
 */
export async function resolveReferences(
  value: unknown,
  reader: ReferenceReader,
  path: readonly PropertyKey[],
): Promise<unknown> {
  if (typeof value === 'string') {
    return resolveText(value, reader, path);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (path.length > MAX_DEPTH) {
    reader.mistakes.push(`${pathText(path)} is nested too deep`);
    return null;
  }
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    entries.push([name, await resolveReferences(member, reader, at)]);
  }
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

async function resolveText(
  text: string,
  reader: ReferenceReader,
  path: readonly PropertyKey[],
): Promise<string | null> {
  const parts: string[] = [];
  let end = 0;
  try {
    for (const match of text.matchAll(REFERENCE)) {
      parts.push(text.slice(end, match.index), await target(match, reader));
      end = match.index + match[0].length;
    }
  } catch (error) {
    if (error instanceof UnresolvedError) {
      reader.mistakes.push(`${pathText(path)} ${error.message}`);
      return null;
    }
    throw error;
  }
  return [...parts, text.slice(end)].join('');
}

async function target([whole, scheme, name = '']: RegExpExecArray, reader: ReferenceReader): Promise<string> {
  if (whole === '$${') {
    return '${';
  }
  if (scheme === 'file' && name !== '') {
    return fileText(name, reader);
  }
  if (scheme !== 'env' || !VARIABLE.test(name)) {
    throw new UnresolvedError(
      'must contain references as ${env:NAME} or ${file:PATH}; write $${ for a literal ${',
    );
  }
  const value = reader.variable(name);
  if (value === undefined) {
    throw new UnresolvedError('refers to an environment variable that is not set');
  }
  return value;
}

async function fileText(path: string, reader: ReferenceReader): Promise<string> {
  try {
    // Editors and `echo` end a file with a line break that is not part of a password.
    return (await reader.file(path)).replace(/\r?\n$/, '');
  } catch {
    throw new UnresolvedError('refers to a file that cannot be read or is too large');
  }
}

/** A reference that cannot be resolved. The message is a fixed sentence. */
class UnresolvedError extends Error {}

/** Reads a file of at most `configBytes`. Rejects pipes and devices, which may never end. @throws SourceError */
export async function readBounded(path: string, signal: AbortSignal): Promise<string> {
  const status = await stat(path).catch(() => undefined);
  if (status !== undefined && status.size > discoveryLimits.configBytes) {
    throw new SourceError('too_large');
  }
  const isFile = status?.isFile() === true;
  const text = isFile ? await readFile(path, { encoding: 'utf8', signal }).catch(() => undefined) : undefined;
  if (text === undefined) {
    throw new SourceError('unreadable');
  }
  return text;
}
