import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import { Table } from '../../../database/table.js';
import type { NamedNode } from '../../packages/thread/package-task.types.js';
import { ProcessNodeEntity } from './process-node.entity.js';
import { inParts } from '../../../database/statement-batches.js';

const ROWS_PER_STATEMENT = 200;
const BPMN_ID_LENGTH = 255;

const NUMBERS = new Table(ProcessNodeEntity).select('id', 'nodeSvcUuid');

/** Numbers of nodes by their svcUuid. */
type Numbers = ReadonlyMap<string, number>;

/**
 * The numbers of nodes (docs/contract.md, section 6): given once to each node of a process definition and the
 * same in every later build. Builds that meet a new node at the same time get one number: the unique index decides.
 */
@Injectable()
export class ProcessNumbers {
  constructor(
    private readonly database: Database,
    private readonly ids: IdBlocks,
  ) {}

  /** The numbers of nodes of a process, in the order of the nodes. Not inside of a transaction. */
  async of(svcUuid: string, nodes: readonly NamedNode[]): Promise<number[]> {
    const numbers = await this.known(svcUuid, nodes);
    return nodes.map((node) => numberOf(node, numbers));
  }

  private async known(svcUuid: string, nodes: readonly NamedNode[]): Promise<Numbers> {
    const known = await this.database.read((manager) => stored(manager, svcUuid));
    // In one order everywhere, so that two builds do not wait for each other in a circle.
    const missing = nodes
      .filter((node) => !known.has(node.svcUuid))
      .toSorted((one, other) => (one.svcUuid < other.svcUuid ? -1 : 1));
    if (missing.length === 0) {
      return known;
    }
    const first = await this.ids.next('process-node', missing.length);
    return this.database.writeAside(async (manager) => {
      await insert(
        manager,
        missing.map((node, index) => toRow(svcUuid, node, first + index)),
      );
      return stored(manager, svcUuid);
    });
  }
}

async function stored(manager: EntityManager, definitionSvcUuid: string): Promise<Numbers> {
  const rows = await NUMBERS.find(manager, { definitionSvcUuid });
  return new Map(rows.map(({ id, nodeSvcUuid }) => [nodeSvcUuid, id]));
}

/** Adds the rows that nobody has added meanwhile. */
async function insert(manager: EntityManager, rows: ProcessNodeEntity[]): Promise<void> {
  for (const some of inParts(rows, ROWS_PER_STATEMENT)) {
    await manager.createQueryBuilder().insert().orIgnore().into(ProcessNodeEntity).values(some).execute();
  }
}

function toRow(definitionSvcUuid: string, { svcUuid, key }: NamedNode, id: number): ProcessNodeEntity {
  return { id, definitionSvcUuid, nodeSvcUuid: svcUuid, bpmnId: key.slice(0, BPMN_ID_LENGTH) };
}

function numberOf({ svcUuid, key }: NamedNode, numbers: Numbers): number {
  const id = numbers.get(svcUuid);
  if (id === undefined) {
    throw new Error(`The node ${key} got no number.`);
  }
  return id;
}
