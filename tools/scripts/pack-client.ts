import { mkdirSync } from 'node:fs';
import { buildClient, packClient } from './client-package.js';
import { scriptOptions } from './options.js';

/** Makes the client package as one file, and prints its path. */
const { out } = scriptOptions({ options: { out: { type: 'string', default: '.cache/client' } } }).values;

await buildClient();
mkdirSync(out, { recursive: true });
console.log(packClient(out));
