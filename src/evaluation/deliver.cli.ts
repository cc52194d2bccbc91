import { pathAsTyped, runCli } from '../config/cli.js';
import { Env } from '../config/env.js';
import { deliver } from '../delivery/deliver.command.js';
import { orderToken } from './token-socket.client.js';

const TOKEN_SECONDS = 600;

/** Delivers a folder. Here because only the evaluation server hands out tokens; with --url it reaches any service. */
await runCli(async (args, print) => {
  const env = Env.fromProcess('maintenance');
  return deliver(args, {
    env,
    print,
    printError: (line) => process.stderr.write(`${line}\n`),
    pathOf: (folder) => pathAsTyped(folder, 'deliver'),
    evaluation: async () => ({
      url: `http://127.0.0.1:${env.get('PORT')}`,
      token: await orderToken(env.get('DATA_DIR'), {
        subject: 'jane.doe',
        permissions: 'all',
        ttlSeconds: TOKEN_SECONDS,
      }),
    }),
  });
});
