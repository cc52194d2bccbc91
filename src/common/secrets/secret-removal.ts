import { isJsonObject, type JsonValue } from '../data-paths.js';

const REMOVED = '[removed]';
/** Texts that are removed wherever they stand must be long enough not to be common words. */
const SECRET_MIN_LENGTH = 8;

/** A text of a server, which may send back what it was given, without these secrets. Shorter ones than 8 characters stay. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SECRET_MIN_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
}

/** As {@link withoutSecrets}, for every text and every name in a value. Recursive: for values of bounded depth. */
export function jsonWithoutSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') {
    return withoutSecrets(value, secrets);
  }
  if (Array.isArray(value)) {
    return value.map((item) => jsonWithoutSecrets(item, secrets));
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, member]) => [withoutSecrets(name, secrets), jsonWithoutSecrets(member, secrets)]),
    );
  }
  return value;
}
