import type { EntityManager } from 'typeorm';
import type { Database } from '../../../store/database.js';
import type { IdBlocks } from '../../../store/ids/id-blocks.js';
import { Table } from '../../../store/tables/table.js';
import type { NamedNode } from '../../packages/thread/package-task.types.js';
import { ProcessNodeEntity } from './build.entity.js';

const BPMN_ID_LENGTH = 255;

const NODES = new Table(ProcessNodeEntity);
const NUMBERS = NODES.select('id', 'nodeSvcUuid');

/** Numbers of nodes by svcUuid. */
type Numbers = ReadonlyMap<string, number>;

/**
 * Returns the numbers of nodes of a process, in the order of the nodes (docs/contract.md, section 6). Each node of a process definition
 * gets a number once and keeps it in later builds. If concurrent builds add the same node, the unique index ensures that both use one
 * number. Not for use inside a transaction.
 */
export async function numbersOf(
  database: Database,
  ids: IdBlocks,
  definitionSvcUuid: string,
  nodes: readonly NamedNode[],
): Promise<number[]> {
  const known = await database.read((manager) => stored(manager, definitionSvcUuid));
  // Insert in a fixed order, so that concurrent builds do not deadlock.
  const missing = nodes
    .filter(({ svcUuid }) => !known.has(svcUuid))
    .toSorted((one, other) => (one.svcUuid < other.svcUuid ? -1 : 1));
  if (missing.length === 0) {
    return nodes.map((node) => numberOf(node, known));
  }
  const first = await ids.next('process-node', missing.length);
  const rows = missing.map(({ svcUuid, key }, index) => ({
    id: first + index,
    definitionSvcUuid,
    nodeSvcUuid: svcUuid,
    bpmnId: key.slice(0, BPMN_ID_LENGTH),
  }));
  const all = await database.writeAside(async (manager) => {
    await NODES.insert(manager, rows, true);
    return stored(manager, definitionSvcUuid);
  });
  return nodes.map((node) => numberOf(node, all));
}

async function stored(manager: EntityManager, definitionSvcUuid: string): Promise<Numbers> {
  const rows = await NUMBERS.find(manager, { definitionSvcUuid });
  return new Map(rows.map(({ id, nodeSvcUuid }) => [nodeSvcUuid, id]));
}

function numberOf({ svcUuid, key }: NamedNode, numbers: Numbers): number {
  const id = numbers.get(svcUuid);
  if (id === undefined) {
    throw new Error(`The node ${key} got no number.`);
  }
  return id;
}
