import LibsqlDatabase from 'libsql';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onQueryRunner, replaceQuery, replaceRawQuery } from './typeorm-hooks.js';

@Entity('things')
class ThingEntity {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ type: 'int' }) size: number;
}

describe('the hooks of TypeORM', () => {
  const sent: string[] = [];
  let dataSource: DataSource;
  beforeAll(async () => {
    const database = ':memory:';
    dataSource = new DataSource({
      type: 'better-sqlite3',
      driver: LibsqlDatabase,
      database,
      entities: [ThingEntity],
    });
    await dataSource.initialize();
    await dataSource.query('CREATE TABLE things (id int PRIMARY KEY, size int)');
    const seen = new WeakSet();
    onQueryRunner(dataSource, (runner) => {
      if (!seen.has(runner)) {
        seen.add(runner);
        replaceQuery(runner, (send) => (...args) => {
          sent.push(String(args[0]).split(' ', 1)[0] ?? '');
          return send(...args);
        });
      }
    });
  });
  beforeEach(() => {
    sent.length = 0;
  });
  afterAll(() => dataSource.destroy());

  it('see every statement, including those of transactions', async () => {
    await dataSource.transaction(async (manager) => {
      await manager.insert(ThingEntity, { id: 1, size: 1 });
      await manager.update(ThingEntity, { id: 1 }, { size: 2 });
      await manager.query('UPDATE things SET size = 3');
    });
    expect(await dataSource.manager.findBy(ThingEntity, { id: 1 })).toEqual([{ id: 1, size: 3 }]);
    await dataSource.createQueryBuilder().delete().from(ThingEntity).execute();
    expect(sent).toEqual(['BEGIN', 'INSERT', 'UPDATE', 'UPDATE', 'COMMIT', 'SELECT', 'DELETE']);
  });

  it('replace how raw statements are sent', async () => {
    replaceRawQuery(dataSource, (sql, values) => Promise.resolve([sql, values]));
    expect(await dataSource.manager.query('SELECT ?', [1])).toEqual(['SELECT ?', [1]]);
  });
});
