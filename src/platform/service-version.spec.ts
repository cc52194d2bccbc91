import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { SERVICE_NAME, SERVICE_VERSION } from './service-version.js';

it('the name and version of the service are those of package.json', async () => {
  const { name, version } = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, unknown>;
  expect({ name, version }).toEqual({ name: SERVICE_NAME, version: SERVICE_VERSION });
});
