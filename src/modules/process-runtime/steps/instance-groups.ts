/** All instances are in one place: any of them may share a transaction. */
const PLACES = 1;

/**
 * Instances of equal names may share a transaction (docs/architecture.md, Group commit). Where a database keeps its rows in several
 * places, the shard tells which one holds an instance.
 */
export function groupOf({ shard }: { shard: number }): string {
  return `place ${shard % PLACES}`;
}
