import { readdirSync, readFileSync } from 'node:fs';
import { getMetadataArgsStorage } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../../src/schema.js';
import { SHARDED_TABLES } from '../support/shard-discipline.js';

const read = (name: string): unknown => JSON.parse(readFileSync(`deploy/vitess/${name}`, 'utf8'));

describe('the files for Vitess', () => {
  it('list exactly the tables whose rows have a shard', () => {
    const { tables, columns } = getMetadataArgsStorage();
    const placed = columns.filter(({ propertyName }) => propertyName === 'shard').map(({ target }) => target);
    const entities: readonly unknown[] = SCHEMA.entities;
    const names = tables
      .filter(({ target }) => entities.includes(target) && placed.includes(target))
      .map(({ name }) => String(name));
    expect(names.toSorted()).toEqual(SHARDED_TABLES);
    const { tables: listed } = read('rt.vschema.json') as { tables: Record<string, unknown> };
    expect(Object.keys(listed)).toEqual(SHARDED_TABLES);
    const { rules } = read('routing-rules.json') as { rules: { from_table: string; to_tables: string[] }[] };
    for (const table of SHARDED_TABLES) {
      for (const from of [table, `ctl.${table}`]) {
        expect(rules).toContainEqual({ from_table: from, to_tables: [`rt.${table}`] });
      }
    }
  });

  it('match the migrations that run in the sharded keyspace', () => {
    const files = readdirSync('migrations');
    for (const migration of SCHEMA.migrations) {
      const { name } = migration;
      const file = files.find((each) => name.endsWith(each.split('-')[0] ?? '')) ?? '';
      const text = readFileSync(`migrations/${file}`, 'utf8');
      const isListed = SCHEMA.shardedMigrations?.includes(migration) ?? false;
      const isSharded = SHARDED_TABLES.some((table) => new RegExp(`\\b${table}\\b`).test(text));
      expect({ name, isListed }).toEqual({ name, isListed: isSharded });
    }
  });
});
