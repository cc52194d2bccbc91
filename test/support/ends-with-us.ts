import type { ChildProcess } from 'node:child_process';

/** One hook for all of them: Node takes many listeners of one event for a leak, and warns. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Lets a child process end with this one at the latest, also when this one ends by a failure. */
export function endsWithUs<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}
