import { spawnSync } from 'node:child_process';
import { tallyLine, type Tally } from './tally.js';
import { openApiTool } from './openapi/tools.js';

/**
 * Checks openapi.json against the rules of Redocly (recommended-strict) and Spectral (OpenAPI and OWASP). No findings are allowed;
 * tools/scripts/openapi gives the reason for each disabled rule.
 *
 *     tsx tools/scripts/lint-openapi.ts
 */
const DOCUMENT = 'openapi.json';
const CHECKS = [
  {
    tool: 'redocly',
    args: ['lint', DOCUMENT, '--config', 'tools/scripts/openapi/redocly.yaml', '--max-problems', '50'],
  },
  {
    tool: 'spectral',
    args: ['lint', DOCUMENT, '--ruleset', 'tools/scripts/openapi/spectral.yaml', '--fail-severity', 'hint'],
  },
];

const total: Tally = { passed: 0, failed: 0, skipped: 0 };
for (const { tool, args } of CHECKS) {
  // Prevents network access: no update check, no telemetry.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { status } = spawnSync(openApiTool(tool), args, { stdio: 'inherit', env });
  console.log(`${tool}: ${status === 0 ? 'no findings' : 'findings above'}`);
  total[status === 0 ? 'passed' : 'failed'] += 1;
}
console.log(tallyLine(total));
process.exitCode = total.failed === 0 ? 0 : 1;
