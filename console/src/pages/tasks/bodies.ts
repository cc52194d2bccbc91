import { ServiceError } from '../../../../clients/typescript/src/index.js';

/** What a form holds, as the body of a request. */
export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** What the service says of single members (`client.name`), by their paths. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ServiceError) || error.details === undefined) {
    return {};
  }
  const { message } = error;
  return Object.fromEntries(
    error.details.split(/;\s*/).map((detail) => {
      const [path = '', rule = message] = detail.split(/:\s*/, 2);
      return [path.trim(), rule] as const;
    }),
  );
}
