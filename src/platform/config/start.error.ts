/**
 * The process cannot start, and whoever runs it can mend that. The message is for them: it names settings, ids and
 * codes, never a value and never a word of a library.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** What settings name is not there or not to be had: a database, a port. It may be a moment later. */
export class SettingUnusableError extends StartError {
  override readonly name = 'SettingUnusableError';
  /**
   * @param problem begins with the names of the settings
   * @param cause the error that was thrown; only its code is told, because its message may quote values
   */
  constructor(problem: string, cause: unknown) {
    super(`${problem}: ${codeOf(cause)}`, { cause });
  }
}

/** The code of an error, or its name where it has none. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return [code, name].find((text) => typeof text === 'string') ?? 'unknown error';
}
