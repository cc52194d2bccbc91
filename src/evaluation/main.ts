import { endWithStartError } from '../config/cli.js';
import { Env } from '../config/env.js';
import { serve } from '../serve.js';
import { EvaluationIssuer } from './evaluation-issuer.js';
import { evaluationSecretsKeys } from './secrets-key-file.js';
import { TokenSocket } from './token-socket.js';

const LOOPBACK = '127.0.0.1';

/** Evaluation mode: one machine, an embedded database, tokens of our own making. Never a fallback of production. */
/** What tells dev:token where the server is must not outlive it, also when it never came to be. */
let closeSocket = (): Promise<void> => Promise.resolve();
try {
  const dataDir = Env.fromProcess('evaluation').get('DATA_DIR');
  const env = Env.fromProcess('evaluation', {
    LOG_LEVEL: 'warn',
    SECRETS_KEYS: await evaluationSecretsKeys(dataDir),
  });
  const issuer = await EvaluationIssuer.create(env.get('PERMISSION_RULES'));
  const socket = await TokenSocket.open(dataDir, issuer);
  closeSocket = () => socket.close();
  const url = await serve({
    env,
    issuer: { inject: [], useFactory: () => issuer.trusted },
    host: LOOPBACK,
    onStop: closeSocket,
  });
  process.stdout.write(
    [
      '',
      'svc-platform runs in evaluation mode: this machine only, no company sign-in.',
      `  API documentation  ${url}/docs`,
      '  Bearer token       npm run -s dev:token',
      `  Data               ${dataDir}`,
      '',
      '',
    ].join('\n'),
  );
} catch (error) {
  await closeSocket();
  endWithStartError(error);
}
