import type { GraphNode } from '#engine/definitions';
import { shortened, type PackageProblems } from '../model/package-problems.js';

/**
 * Rejects a second message start event for the same message in a package. A message starts one process, so the second event would never
 * fire (docs/contract.md, section 4.4).
 */
export function checkMessageStarts(
  nodes: readonly { node: GraphNode; file: string }[],
  problems: PackageProblems,
): void {
  const first = new Map<string, { element: string; file: string }>();
  for (const { node, file } of nodes) {
    const { kind, event, key: element } = node;
    if (kind === 'START_EVENT' && event?.type === 'MESSAGE' && event.message !== '') {
      const known = first.get(event.message);
      if (known === undefined) {
        first.set(event.message, { element, file });
      } else {
        const where = `"${shortened(known.element)}" ${known.file === file ? 'in this file' : `in ${known.file}`}`;
        const message = `The message "${shortened(event.message)}" already starts a process at ${where}. Use another message, or one start event for both.`;
        problems.error('MESSAGE_STARTS_TWICE', { file, element }, message);
      }
    }
  }
}
