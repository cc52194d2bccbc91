import { isJsonObject } from '#engine/json';
import { ProbeError } from '../../model/failures.js';

/** Facts that a component reports about itself, reduced to those that may be shown. */
export interface SelfDescription {
  name?: string;
  version?: string;
  capabilities?: readonly string[];
}

const MAX_VERSION_TEXT = 200;
const MAX_NAME = 64;
const MAX_CAPABILITIES = 50;
const NUMERIC_TOKEN = /\d+(?:\.\d+)*/;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._()+-]*$/u;
const CAPABILITY = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/;

/** Returns the first number of a text (`1.28.3` for `v1.28.3+k3s1`); undefined when there is none. */
export function versionOf(text: unknown): string | undefined {
  if (typeof text === 'number') {
    return versionOf(String(text));
  }
  return typeof text === 'string'
    ? NUMERIC_TOKEN.exec(text.slice(0, MAX_VERSION_TEXT))?.[0].slice(0, MAX_NAME)
    : undefined;
}

/** Returns a reported name of 1-64 letters, digits and plain punctuation; undefined for anything else. */
export function nameOf(text: unknown): string | undefined {
  const name = typeof text === 'string' ? text.trim() : '';
  return name.length <= MAX_NAME && NAME.test(name) ? name : undefined;
}

/** Returns names of capabilities (1-64 characters of `[A-Za-z0-9._:/-]`), sorted, without duplicates, at most 50. */
export function capabilitiesOf(values: unknown): string[] | undefined {
  if (!Array.isArray(values)) {
    return undefined;
  }
  const named = values.filter(
    (value): value is string => typeof value === 'string' && CAPABILITY.test(value),
  );
  return named.length === 0 ? undefined : [...new Set(named)].toSorted().slice(0, MAX_CAPABILITIES);
}

/** Reads the common members of health and information documents. */
export function describedBy(body: unknown): SelfDescription {
  const root = asRecord(body);
  const build = asRecord(root['build']);
  const info = asRecord(root['info']);
  const app = asRecord(root['app']);
  const versions = [
    root['version'],
    root['releaseId'],
    build['version'],
    app['version'],
    asRecord(info['app'])['version'],
    info['version'],
  ];
  const names = [root['name'], root['serviceId'], build['name'], app['name'], info['title']];
  return {
    ...known('version', firstOf(versionOf, versions)),
    ...known('name', firstOf(nameOf, names)),
    ...known('capabilities', capabilitiesOf(root['capabilities'])),
  };
}

/** Merges descriptions; earlier ones take precedence. */
export function merged(descriptions: readonly SelfDescription[]): SelfDescription {
  return descriptions.reduceRight<SelfDescription>((rest, description) => ({ ...rest, ...description }), {});
}

/** Returns an object with one member, or an empty one when there is no value. */
export function known<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}

function firstOf(
  read: (value: unknown) => string | undefined,
  values: readonly unknown[],
): string | undefined {
  return values.map(read).find((found) => found !== undefined);
}

/** Reads a whole number from 0; drivers and monitoring pages also return numbers as text. */
export function wholeNumber(value: unknown): number {
  const isNumeric = typeof value === 'bigint' || (typeof value === 'string' && value.trim() !== '');
  const number = isNumeric ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(Math.trunc(number)) || number < 0) {
    throw new ProbeError('protocol');
  }
  return Math.trunc(number);
}

/** Reads a list of objects. @throws ProbeError `protocol` */
export function records(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) {
    throw new ProbeError('protocol');
  }
  return value;
}
