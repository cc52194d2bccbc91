import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { Database } from '../../../src/store/database.js';
import { TestApp } from '../../support/app.js';
import { serviceTask, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, executed, started } from '../../support/runtime/runtime-client.js';

const NOT_THERE = '<svc:data>{ "copy": "${missing}" }</svc:data>';
const WARNING = 'process step with warnings';

describe('warnings of a step', () => {
  const logged = vi.spyOn(Log.prototype, 'warn');
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
    const copying = serviceTask('copying', [{ name: 'copy', keys: 'copy', inner: NOT_THERE }]);
    published = await publish(app, { bpmn: taskProcess('warned', userTask('a'), copying, userTask('b')) });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => app.close());

  it('are logged once if the transaction is repeated, and not at all if it is rolled back for good', async () => {
    const { uuid, token } = await started(app, published, 'warned', {});
    const warnings = (): unknown[] => logged.mock.calls.filter(([message]) => message === WARNING);
    logged.mockClear();

    rollBack('for good');
    expect((await execute(app, uuid, token.uuid, ui('a'), {})).status).toBe(500);
    expect(warnings()).toEqual([]);

    rollBack('once');
    await executed(app, uuid, token.uuid, ui('a'), {});
    expect(warnings()).toEqual([[WARNING, expect.objectContaining({ instance: uuid, count: 1 })]]);
  });

  /** Makes every transaction fail after its work, for good or until it is repeated. */
  function rollBack(how: 'once' | 'for good'): void {
    const database = app.nest.get(Database);
    const write = Database.prototype.writeTogether.bind(database);
    vi.spyOn(database, 'writeTogether').mockImplementation(async (work) => {
      const failing = write(async (manager) => {
        await work(manager);
        throw new Error('rolled back');
      });
      if (how === 'for good') {
        return failing;
      }
      await failing.catch(() => undefined);
      return write(work);
    });
  }
});
