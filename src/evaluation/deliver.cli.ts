import { pathAsTyped, runCli } from '../config/cli.js';
import { Env } from '../config/env.js';
import { deliver } from '../delivery/deliver.command.js';
import { evaluationAddress } from './token-socket.client.js';

/** Delivers a folder. Here because only the evaluation server hands out tokens; with --url it reaches any service. */
await runCli(async (args, print) => {
  const env = Env.fromProcess('maintenance');
  return deliver(args, {
    env,
    print,
    printError: (line) => process.stderr.write(`${line}\n`),
    pathOf: (folder) => pathAsTyped(folder, 'deliver'),
    evaluation: () => evaluationAddress(env),
  });
});
