import { endWithStartError } from '../config/cli.js';
import { Env } from '../config/env.js';
import { serve } from '../serve.js';
import { EvaluationIssuer } from './evaluation-issuer.js';
import { evaluationSecretsKeys } from './secrets-key-file.js';
import { TokenSocket } from './token-socket.js';

const LOOPBACK = '127.0.0.1';

/** Evaluation mode: one machine, an embedded database, tokens of our own making. Never a fallback of production. */
let socket: TokenSocket | undefined;
try {
  const dataDir = Env.fromProcess('evaluation').get('DATA_DIR');
  const env = Env.fromProcess('evaluation', {
    LOG_LEVEL: 'warn',
    SECRETS_KEYS: await evaluationSecretsKeys(dataDir),
  });
  const issuer = await EvaluationIssuer.create(env.get('PERMISSION_RULES'));
  socket = await TokenSocket.open(dataDir, issuer);
  const url = await serve({
    env,
    issuer: { inject: [], useFactory: () => issuer.trusted },
    host: LOOPBACK,
    onStop: () => socket?.close() ?? Promise.resolve(),
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
  // Whatever else fails now, why the start did is what a person must read.
  await socket?.close().catch(() => undefined);
  endWithStartError(error);
}
