import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printErrorAndExit } from '../platform/config/cli.js';
import { Clock } from '../platform/clock.js';
import { Env } from '../platform/config/env.js';
import { EvaluationIssuer } from './evaluation-issuer.js';
import { startEvaluationModel, type ScriptedModel } from './scripted-model/scripted-model.server.js';
import { evaluationSecretsKeys } from './secrets-key-file.js';
import { clockStart, StillClock } from './still-clock.js';
import { TokenSocket } from './token-socket.js';
import { useTestLimits } from './test-limits.js';

const LOOPBACK = '127.0.0.1';
/** Path relative to the compiled file in dist/src/evaluation. */
const SAMPLE_FOLDER = fileURLToPath(new URL('../../../sample', import.meta.url));
const SAMPLE_SCRIPT = join(SAMPLE_FOLDER, 'model.json');

/** Starts evaluation mode: one machine, an embedded database, self-issued tokens. Never a fallback for production. */
let socket: TokenSocket | undefined;
let model: ScriptedModel | undefined;
let sample = '';
try {
  const given = Env.fromProcess('evaluation');
  const dataDir = given.get('DATA_DIR');
  const secretsKeys = await evaluationSecretsKeys(dataDir);
  // Load the rest only now, since it takes seconds on a small machine and invalid settings should be reported immediately.
  const [{ serve }, { deliverSample, SAMPLE_APP }, { TestControl }, { EvaluationSignInModule }] =
    await Promise.all([
      import('../serve.js'),
      import('./sample-application.js'),
      import('./test-control.js'),
      import('./sign-in/evaluation-sign-in.module.js'),
    ]);
  model = await startEvaluationModel(given, SAMPLE_SCRIPT);
  const env = Env.fromProcess('evaluation', {
    LOG_LEVEL: 'warn',
    SECRETS_KEYS: secretsKeys,
    TOOL_CALLS: 'true',
    ...(model === undefined ? {} : { LLM_BASE_URL: model.url, LLM_MODEL: model.name }),
  });
  const start = clockStart(env);
  const clock = start === undefined ? new Clock() : new StillClock(start);
  if (start !== undefined) {
    useTestLimits();
  }
  const issuer = await EvaluationIssuer.create(env.get('PERMISSION_RULES'), {
    clock,
    folderKey: secretsKeys,
  });
  socket = await TokenSocket.open(dataDir, issuer);
  const url = await serve({
    env,
    issuer: { inject: [], useFactory: () => issuer.trusted },
    clock,
    modules: [EvaluationSignInModule.of(issuer)],
    host: LOOPBACK,
    onStop: async () => {
      await socket?.close();
      await model?.close();
    },
    beforeListening: async (app) => {
      if (clock instanceof StillClock && socket !== undefined) {
        socket.control = new TestControl(app, clock, model);
        sample = 'none, EVALUATION_CLOCK is set';
        return;
      }
      sample = await deliverSample(app, SAMPLE_FOLDER).then(
        (buildId) => `appId ${SAMPLE_APP}, build ${buildId}`,
        (error: unknown) => `not delivered: ${error instanceof Error ? error.message : 'unknown'}`,
      );
    },
  });
  process.stdout.write(
    [
      '',
      'svc-platform is running in evaluation mode: this machine only, no company sign-in.',
      ...(env.get('CONSOLE') ? [`  Console            ${url}/console/`] : []),
      `  API documentation  ${url}/docs`,
      '  Bearer token       npm run -s dev:token',
      `  Sample application ${sample}`,
      `  Language model     ${model === undefined ? 'LLM_BASE_URL' : `scripted, ${model.url}`}`,
      `  Data               ${dataDir}`,
      '',
      '',
    ].join('\n'),
  );
} catch (error) {
  // Ignore errors here, so that the cause of the failed start is reported.
  await socket?.close().catch(() => undefined);
  await model?.close();
  printErrorAndExit(error);
}
