/**
 * The process cannot start, for a reason that its operator can fix. The message names settings, ids and codes, never
 * values or texts of libraries.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** Something that settings name, such as a database or a port, is missing or unavailable. It may become available later. */
export class SettingUnusableError extends StartError {
  override readonly name = 'SettingUnusableError';
  /**
   * @param problem begins with the names of the settings
   * @param cause the error that was thrown; only its code is shown, because its message may contain values
   */
  constructor(problem: string, cause: unknown) {
    super(`${problem}: ${codeOf(cause)}`, { cause });
  }
}

/** Returns the code of an error, or its name if it has none. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return [code, name].find((text) => typeof text === 'string') ?? 'unknown error';
}
