import {
  And,
  Column,
  Entity,
  In,
  LessThan,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Not,
  PrimaryColumn,
  type DataSource,
} from 'typeorm';
import { describe, expect, it } from 'vitest';
import { conditionOf, EVERY_SHARD, placedCondition, type Where } from './conditions.js';
import { safeInteger, storedJson } from './column-values.js';
import { setShardGroups } from '../shards.js';
import { columnOf, shapeOf } from './table-columns.js';

@Entity('things')
class ThingEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'boolean', name: 'is_live' }) isLive: boolean;
  @Column({ type: 'datetime', name: 'made_at', precision: 3 }) madeAt: Date;
  @Column({ type: 'json', transformer: storedJson, nullable: true }) content: { a: number } | null;
}

const SHAPE = shapeOf(ThingEntity);
const condition = (where: Where<ThingEntity>): ReturnType<typeof conditionOf> => conditionOf(SHAPE, where);

describe('conditions of a table', () => {
  it('bind values in the format of their columns', () => {
    const madeAt = new Date('2026-05-04T03:02:01.123Z');
    expect(condition({ isLive: true, madeAt })).toEqual({
      sql: 'is_live = ? AND made_at = ?',
      values: [1, '2026-05-04 03:02:01.123'],
    });
    expect(condition({ content: null })).toEqual({ sql: 'content IS NULL', values: [] });
    expect(condition({})).toEqual({ sql: '', values: [] });
  });

  it('support operators of TypeORM', () => {
    expect(condition({ id: And(MoreThanOrEqual(3), LessThan(9)), content: Like('%x%') })).toEqual({
      sql: 'id >= ? AND id < ? AND content LIKE ?',
      values: [3, 9, '%x%'],
    });
    expect(condition({ id: In([1, 2]) })).toEqual({ sql: 'id IN (?, ?)', values: [1, 2] });
  });

  it('match no row if an IN list is empty', () => {
    expect(condition({ isLive: true, id: In([]) })).toBeNull();
    expect(condition({ id: And(MoreThan(1), In([])) })).toBeNull();
  });

  it('are rejected if they would not mean what was written', () => {
    expect(() => conditionOf(SHAPE, { id: undefined })).toThrow('The condition of id is undefined.');
    expect(() => conditionOf(SHAPE, { name: 'x' })).toThrow('The table things has no column name.');
    expect(() => condition({ id: Not(1) })).toThrow('Tables do not support the operator not.');
  });
});

describe('columns of a table', () => {
  it('convert the values of each driver', () => {
    const read = (property: string, value: unknown): unknown => columnOf(SHAPE, property).fromSql?.(value);
    const stored = { text: '{"a":1}' };
    expect([read('content', stored), read('content', JSON.stringify(stored))]).toEqual([{ a: 1 }, { a: 1 }]);
    expect([read('isLive', 1), read('isLive', 0)]).toEqual([true, false]);
    expect(read('madeAt', '2026-05-04 03:02:01.123')).toEqual(new Date('2026-05-04T03:02:01.123Z'));
    expect(read('id', '12')).toBe(12);
  });
});

@Entity('placed_things')
class PlacedEntity {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'int' }) size: number;
}

describe('conditions of a sharded table', () => {
  const shape = shapeOf(PlacedEntity, { id: (id) => id % 256 });
  const connection = (groups: number): { connection: DataSource } => {
    const dataSource = {} as DataSource;
    setShardGroups(dataSource, groups);
    return { connection: dataSource };
  };

  it('require the table to define how the shard is determined', () => {
    expect(() => shapeOf(PlacedEntity)).toThrow(TypeError);
  });

  it('name the shard that a value determines, with several groups', () => {
    expect(placedCondition(connection(2), shape, { id: 258 })).toEqual({
      sql: 'id = ? AND shard = ?',
      values: [258, 2],
    });
    expect(placedCondition(connection(2), shape, { id: In([1, 257]) })).toEqual({
      sql: 'id IN (?, ?) AND shard = ?',
      values: [1, 257, 1],
    });
    expect(placedCondition(connection(2), shape, { id: In([1, 2]) })).toEqual({
      sql: 'id IN (?, ?) AND shard IN (?, ?)',
      values: [1, 2, 1, 2],
    });
    expect(placedCondition(connection(1), shape, { id: 258 })).toEqual({ sql: 'id = ?', values: [258] });
    expect(placedCondition(connection(2), shape, { size: 1, shard: EVERY_SHARD })).toEqual({
      sql: 'size = ?',
      values: [1],
    });
  });

  it.each([1, 2])('are rejected if they name no shard, with %i groups', (groups) => {
    expect(() => placedCondition(connection(groups), shape, { size: 1 })).toThrow('names no shard');
  });
});
