import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildClient, packClient } from './client-package.js';

/** Makes the client package as one file, and prints its path. */
const { out } = parseArgs({ options: { out: { type: 'string', default: '.cache/client' } } }).values;

await buildClient();
mkdirSync(out, { recursive: true });
console.log(packClient(out));
