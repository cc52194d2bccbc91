/** Characters and length of a process name, which is a segment of the path that starts the process. */
export const PROCESS_NAME_PATTERN = /^[A-Za-z0-9._\-[\]()]{1,64}$/;

/** Returns whether a process can have this name. `.` and `..` are excluded, as URLs resolve them (RFC 3986, section 5.2.4). */
export function isProcessName(name: string): boolean {
  return PROCESS_NAME_PATTERN.test(name) && name !== '.' && name !== '..';
}
