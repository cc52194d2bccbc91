import { describe, expect, it } from 'vitest';
import { moduleRootViolations, sourceViolations } from '../support/source-rules.js';

// Separate constants, so that this file does not violate the rules itself.
const ROOT = '/root';
const FLAG = 'synchronize';
const TEST = 'it';
const HOST = 'registry';
const ODD = ['whoe', 'ver'].join('');

describe('sourceViolations', () => {
  it.each([
    ['src/a/a.service.ts', "const port = process.env['PORT'];"],
    ['src/a/a.service.ts', "createCipheriv('aes-256-gcm', key, iv);"],
    ['src/a/a.service.ts', 'const now = new Date();'],
    ['src/store/x.ts', `const options = { ${FLAG}: true };`],
    ['src/a/a.repository.ts', "await manager.query('SELECT 1');"],
    ['src/a/a.repository.ts', 'await manager.query<Row[]>(SELECT);'],
    ['src/a/a.repository.ts', 'const query = manager.createQueryBuilder();'],
    ['src/a/a.repository.ts', "await executor.query('SELECT 1');"],
    ['src/a/a.repository.ts', "await manager.queryRunner.query('SELECT 1');"],
    ['src/a/a.repository.ts', 'const past = Raw((column) => `${column} < 1`);'],
    ['src/jobs/queue/a.service.ts', "await executor.query('SELECT 1');"],
    ['src/a/a.repository.ts', "import { Table } from '../store/tables/table.js';"],
    ['src/runtime/steps/a.service.ts', "import { Table } from '../../store/tables/table.js';"],
    ['src/a/storage/a.repository.ts', "import { Table } from '../../store/tables/table.js';"],
    ['src/a/a.repository.ts', "import { readTogether } from '../store/tables/read-together.js';"],
    ['src/store/connection/x.ts', 'const { _connectionQueue: queue } = pool;'],
    ['src/store/connection/x.ts', 'connection.addCommand(command);'],
    ['src/store/connection/x.ts', 'runner.query = send;'],
    ['src/store/connection/x.ts', 'const { pool } = dataSource.driver as { pool?: object };'],
    ['src/a/a.probe.ts', 'stream: () => Object.assign(socket, { _host: host }),'],
    ['src/a/a.ts', '(server as Server & { requireHostHeader: boolean }).requireHostHeader = false;'],
    ['src/a/a.middleware.ts', 'const { stack } = app.router as { stack: Layer[] };'],
    ['test/integration/a.int-spec.ts', `${TEST}.only('works', () => undefined);`],
    ['README.md', `see ${ROOT}/project/a.md`],
    ['README.md', `${ODD} sends it`],
    ['package-lock.json', `"resolved": "https://${HOST}.npmjs.org/a/-/a-1.0.0.tgz"`],
  ])('rejects in %s: %s', (path, line) => {
    expect(sourceViolations(path, `first\n${line}\n`)).toMatchObject([{ path, line: 2 }]);
  });

  it.each([
    ['src/platform/config/env.ts', 'Env.parse(mode, process.env);'],
    ['src/platform/secrets/secret-cipher.ts', "createCipheriv('aes-256-gcm', key, iv);"],
    ['src/platform/clock.ts', 'return new Date();'],
    ['src/a/a.statements.ts', 'await manager.query(COPY);'],
    ['src/runtime/storage/a.repository.ts', "import { Table } from '../../store/tables/table.js';"],
    ['src/runtime/a/storage/a.repository.ts', "import { Table } from '../../../store/tables/table.js';"],
    ['src/discovery/storage/scan-turns.repository.ts', 'const past = Raw((column) => `${column} < 1`);'],
    ['README.md', 'GET /workflows, ./work/a, https://example.com/home/a'],
  ])('accepts in %s: %s', (path, line) => {
    expect(sourceViolations(path, line)).toEqual([]);
  });
});

describe('moduleRootViolations', () => {
  const root = (count: number) => Array.from({ length: count }, (_, index) => `src/a/a${index}.ts`);

  it('rejects a thirteenth file at the root of a module', () => {
    expect(moduleRootViolations(root(13))).toMatchObject([{ path: 'src/a', line: 1 }]);
  });

  it('does not count specs, files in subfolders, or files of other modules', () => {
    const others = ['src/a/a.spec.ts', 'src/a/folder/a.ts', 'src/b/b.ts', 'src/a.ts'];
    expect(moduleRootViolations([...root(12), ...others])).toEqual([]);
  });
});
