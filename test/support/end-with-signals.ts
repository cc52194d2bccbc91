/** Lets the exit hooks run when a signal ends a command, with the customary exit status 128 + signal number. */
export function endWithSignals(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGHUP', () => process.exit(129));
}
