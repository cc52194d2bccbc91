import type { DataSource, QueryRunner } from 'typeorm';

export type Send = (...args: unknown[]) => Promise<unknown>;

/*
 * TypeORM reports statements to loggers and subscribers, but nobody can delay one or send it in another way. So these functions
 * replace methods of it; typeorm-hooks.spec.ts fails when statements no longer pass them.
 */

/** Replaces how a query runner sends its statements, those of its transaction included. */
export function replaceQuery(runner: QueryRunner, replacement: (send: Send) => Send): void {
  const send = runner.query.bind(runner) as QueryRunner['query'] & Send;
  runner.query = replacement(send) as typeof send;
}

/** Calls a function with every query runner that a data source creates, before it is used. */
export function onQueryRunner(dataSource: DataSource, prepare: (runner: QueryRunner) => void): void {
  const create = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode);
    prepare(runner);
    return runner;
  };
}

/** Replaces how raw statements outside of transactions are sent. */
export function replaceRawQuery(
  { manager }: DataSource,
  send: (sql: string, values: unknown[]) => Promise<unknown>,
): void {
  manager.query = (sql: string, values: unknown[] = []) => send(sql, values) as Promise<never>;
}
