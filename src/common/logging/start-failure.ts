import { exitStatusOf } from '../../config/cli.js';
import { EnvError } from '../../config/env.js';
import { StartError } from '../../config/start.error.js';
import { errorFields, logFatal } from './log.js';

/**
 * Ends a service that could not start. Log lines say why, one for each wrong setting. The status is 78 (EX_CONFIG) when
 * settings are wrong, otherwise 1.
 */
export function endWithStartFailure(error: unknown): never {
  if (error instanceof EnvError) {
    error.problems.forEach((problem) => logFatal('wrong configuration', { problem }));
  } else {
    logFatal('start failed', error instanceof StartError ? { reason: error.message } : errorFields(error));
  }
  process.exit(exitStatusOf(error));
}
