import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'svc-ci-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = readFileSync('.ci/run', 'utf8');
const audit = /^audit\(\) \{$.*?^\}$/ms.exec(script)?.[0] ?? '';

it.each([
  ['passes without a known vulnerability', '{"vulnerabilities":{}}', 0, 0, 'No known vulnerabilities'],
  ['fails with one', '{"vulnerabilities":{"a":{"severity":"high"}}}', 1, 1, 'vulnerabilities'],
  [
    'is skipped with a message if the registry does not support audits',
    '{"error":{}}',
    1,
    77,
    'provides no audit',
  ],
])('the audit gate of CI %s', (_name, report, npmStatus, status, line) => {
  const npm = join(folder, 'npm');
  writeFileSync(npm, `#!/bin/sh\necho '${report}'\nexit ${npmStatus}\n`);
  chmodSync(npm, 0o755);
  expect(script).toMatch(/^gate '[^']+' audit$/m);
  const run = spawnSync('bash', ['-c', `readonly SKIPPED_STATUS=77\n${audit}\naudit`], {
    env: { PATH: `${folder}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  expect([run.status, run.stdout]).toEqual([status, expect.stringContaining(line)]);
});
