import type { MigrationInterface, ObjectLiteral } from 'typeorm';

/** What the database holds. The floors above hand it down, so that this one knows none of their tables. */
export interface Schema {
  readonly entities: (new () => ObjectLiteral)[];
  /** In the order in which they run. */
  readonly migrations: (new () => MigrationInterface)[];
}
