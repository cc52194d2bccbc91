import { writeFileSync } from 'node:fs';
import { runCli } from './cli.js';
import { envExample } from './env-example.js';

/** Writes .env.example. */
await runCli(async (_args, print) => {
  writeFileSync('.env.example', envExample());
  print('.env.example is written.');
  return 0;
});
