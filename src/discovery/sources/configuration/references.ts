import { discoveryLimits } from '../../discovery.limits.js';
import { SourceError } from '../../model/failures.js';
import type { z } from 'zod';
import { readFile, stat } from 'node:fs/promises';

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

/** Groups: what is referred to, by which name. `$${` stands for `${` itself. */
const REFERENCE = /\$\$\{|\$\{(?:(env|file):([^}]*))?[^}]*\}?/g;
const MAX_DEPTH = 16;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What references may read. */
interface ReferenceReader {
  /** @returns undefined when there is no such variable */
  variable(name: string): string | undefined;
  /** @throws Error when the file cannot be read or is too large */
  file(path: string): Promise<string>;
  /** Takes sentences with the path of a value, never the value or what it refers to. */
  mistakes: string[];
}

/**
 * Replaces every `${env:NAME}` and `${file:PATH}` in all texts of a document, where that is possible.
 * @param path of the value itself, for mistakes
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
    throw new UnresolvedError('must refer to a value as ${env:NAME} or ${file:PATH}; $${ stands for ${');
  }
  const value = reader.variable(name);
  if (value === undefined) {
    throw new UnresolvedError('refers to a variable of the environment that is not set');
  }
  return value;
}

async function fileText(path: string, reader: ReferenceReader): Promise<string> {
  try {
    // Editors and `echo` end a file with a line break that is no part of a password.
    return (await reader.file(path)).replace(/\r?\n$/, '');
  } catch {
    throw new UnresolvedError('refers to a file that cannot be read or is too large');
  }
}

/** A reference that leads nowhere. The message is a fixed sentence. */
class UnresolvedError extends Error {}

/** The text of a file of at most `configBytes`. Pipes and devices may never end. @throws SourceError */
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
