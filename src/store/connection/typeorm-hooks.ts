import type { Pool } from 'mysql2';
import type { DataSource, QueryRunner } from 'typeorm';

export type Send = (...args: unknown[]) => Promise<unknown>;

/*
 * TypeORM reports statements to loggers and subscribers, but these cannot delay or replace them. So these functions replace
 * methods of TypeORM. typeorm-hooks.spec.ts fails when statements bypass the replacements.
 */

/** Replaces how a query runner sends statements, including those of its transaction. */
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

/**
 * Returns the connection pool that TypeORM keeps in its driver; undefined for the embedded file. Every integration test on a server fails
 * when TypeORM moves it.
 */
export function driverPool({ driver }: DataSource): Pool | undefined {
  return (driver as { pool?: Pool }).pool;
}

/** Replaces how raw statements outside of transactions are sent. */
export function replaceRawQuery(
  { manager }: DataSource,
  send: (sql: string, values: unknown[]) => Promise<unknown>,
): void {
  manager.query = (sql: string, values: unknown[] = []) => send(sql, values) as Promise<never>;
}
