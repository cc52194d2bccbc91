// @ts-check
import { readFileSync } from 'node:fs';

/**
 * Prints the section of docs/commands.md about a script. It imports no packages, so that help works before `npm ci`.
 *
 *     node tools/scripts/help.mjs NAME
 */
const name = process.argv[2];
const sections = readFileSync('docs/commands.md', 'utf8').split(/^## /m);
const section = sections.find((text) => text.startsWith(`${name}\n`)) ?? `${name}\n`;
process.stdout.write(`npm run ${section}`);
