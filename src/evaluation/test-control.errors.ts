/** Thrown for what a test of an application asks that cannot be done. */
export class TestControlError extends Error {
  override readonly name = 'TestControlError';
}
