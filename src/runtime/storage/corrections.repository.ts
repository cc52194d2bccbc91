import { Injectable } from '@nestjs/common';
import { And, LessThan, MoreThanOrEqual } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import type { JsonObject } from '#engine/json';
import {
  SecretCipher,
  SecretUnreadableError,
  type SecretPlace,
} from '../../platform/secrets/secret-cipher.js';
import { Table } from '../../store/tables/table.js';
import type { EventRow } from './events.repository.js';
import type { InstanceHead } from './process-instance.entity.js';
import { ProcessCorrectionEntity } from './process-event.entity.js';

type Corrected = Pick<InstanceHead, 'uuid' | 'shard'>;

const TABLE = 'process_corrections';
const CORRECTIONS = new Table(ProcessCorrectionEntity, {});
const PART = CORRECTIONS.select('id', 'sealed');
/** Characters per part. Encrypted, a part must fit into a `text` column of 65,535 bytes. */
const PART_LENGTH = 45_000;
/** Maximum number of parts read for one page of history; the largest correction has 24. */
const MAX_PARTS = 128;
const SEQ_DIGITS = 10;
const PART_DIGITS = 4;

/** Stores corrected values. Each part is encrypted and bound to its instance, event and number. */
@Injectable()
export class CorrectionsRepository {
  constructor(private readonly cipher: SecretCipher) {}

  /**
   * Adds the values of a correction, in its transaction.
   * @param seq number of its event in the audit trail
   * @param text the values as JSON, in ASCII
   */
  async insert(executor: SqlExecutor, { uuid, shard }: Corrected, seq: number, text: string): Promise<void> {
    const rows: ProcessCorrectionEntity[] = [];
    for (let at = 0; at < text.length; at += PART_LENGTH) {
      const id = partId(uuid, seq, rows.length);
      const sealed = this.cipher.seal(text.slice(at, at + PART_LENGTH), placeOf(id));
      rows.push({ id, shard, sealed });
    }
    await CORRECTIONS.insert(executor, rows);
  }

  /**
   * Adds the corrected values to the `DATA_CHANGED` events of an instance, or `omitted` if a page has too many or they cannot be
   * decrypted. Sends one statement, or none without such an event.
   */
  async reveal(
    executor: SqlExecutor,
    { uuid, shard }: Corrected,
    events: readonly EventRow[],
  ): Promise<readonly EventRow[]> {
    const seqs = events.flatMap(({ kind, seq }) => (kind === 'DATA_CHANGED' ? [seq] : []));
    if (seqs.length === 0) {
      return events;
    }
    const id = And(
      MoreThanOrEqual(partId(uuid, Math.min(...seqs), 0)),
      LessThan(partId(uuid, Math.max(...seqs) + 1, 0)),
    );
    // Newest first, so that a correction cut off by the limit lacks its first part and is omitted.
    const rows = await PART.find(executor, { shard, id }, { order: { id: 'DESC' }, limit: MAX_PARTS });
    const sealed = new Map(rows.map((row) => [row.id, row.sealed]));
    return events.map((event) =>
      event.kind === 'DATA_CHANGED'
        ? { ...event, data: { ...event.data, ...this.valuesOf(uuid, event.seq, sealed) } }
        : event,
    );
  }

  private valuesOf(uuid: string, seq: number, sealed: ReadonlyMap<string, string>): JsonObject {
    let text = '';
    for (let number = 0; ; number += 1) {
      const id = partId(uuid, seq, number);
      const part = sealed.get(id);
      if (part === undefined) {
        return text === '' ? { omitted: true } : (JSON.parse(text) as JsonObject);
      }
      try {
        text += this.cipher.open(part, placeOf(id));
      } catch (error) {
        if (error instanceof SecretUnreadableError) {
          return { omitted: true };
        }
        throw error;
      }
    }
  }
}

function placeOf(rowId: string): SecretPlace {
  return { table: TABLE, rowId, column: 'sealed', binding: [] };
}

/** Returns an id that sorts by instance, event and part. */
function partId(uuid: string, seq: number, part: number): string {
  return `${uuid}.${String(seq).padStart(SEQ_DIGITS, '0')}.${String(part).padStart(PART_DIGITS, '0')}`;
}
