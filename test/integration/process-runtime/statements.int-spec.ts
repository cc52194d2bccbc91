import type { Logger } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, instancePath, start } from '../../support/runtime/runtime-client.js';

const TRANSACTION = /^(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)/;
/** Checks at most once a second whether a build was withdrawn. */
const BUILD_CHECK = /^SELECT .* FROM builds WHERE/;

describe('statements of the hot path', () => {
  let app: TestApp;
  let published: Published;
  let statements: string[] = [];
  let buildChecks = 0;

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
    published = await publish(app, {
      bpmn: taskProcess('plain', userTask('a'), userTask('b'), userTask('c')),
    });
    // Loads definitions and id blocks before statements are counted.
    await start(app, published, 'plain', {});
    app.dataSource.logger = {
      logQuery: (query: string) => void statements.push(query),
      logQueryError: () => undefined,
    } as unknown as Logger;
  });
  afterAll(() => app.close());

  const counted = async (work: () => Promise<{ status: number }>): Promise<number> => {
    statements = [];
    expect((await work()).status).toBe(200);
    buildChecks += statements.filter((query) => BUILD_CHECK.test(query)).length;
    return statements.filter((query) => !TRANSACTION.test(query) && !BUILD_CHECK.test(query)).length;
  };

  it('are three for a start, two more with an Idempotency-Key, and one for its repeat', async () => {
    expect(await counted(() => start(app, published, 'plain', { a: 1 }))).toBe(3);
    expect(await counted(() => start(app, published, 'plain', { a: 1 }, { key: 'k' }))).toBe(5);
    expect(await counted(() => start(app, published, 'plain', { a: 1 }, { key: 'k' }))).toBe(1);
    expect(statements[0]).toMatch(/^SELECT .* FROM process_repeats WHERE key_hash = \?$/);
  });

  it('include one more per second for starts, whose build may be withdrawn', async () => {
    const begun = performance.now();
    buildChecks = 0;
    for (let count = 0; count < 20; count += 1) {
      await counted(() => start(app, published, 'plain', { a: 1 }));
    }
    expect(buildChecks).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000);
  });

  it('are two for reading an instance, called processes and history included', async () => {
    const { body } = await start(app, published, 'plain', { a: 1 });

    expect(await counted(() => app.request('GET', instancePath(body.uuid)))).toBe(2);
  });

  it('are at most seven for a UI action, with and without an Idempotency-Key', async () => {
    const { body } = await start(app, published, 'plain', { a: 1 });
    const token = body.tokens[0]?.uuid ?? '';

    expect(await counted(() => execute(app, body.uuid, token, ui('a'), { b: 1 }))).toBe(5);
    expect(await counted(() => execute(app, body.uuid, token, ui('b'), { b: 1 }, { key: 'k' }))).toBe(7);
    expect(await counted(() => execute(app, body.uuid, token, ui('b'), { b: 1 }, { key: 'k' }))).toBe(2);
  });
});
