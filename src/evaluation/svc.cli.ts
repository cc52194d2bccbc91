import { svc } from '../../packages/client/src/command-line/svc.command.js';
import { processEnvironment } from '../../packages/client/src/command-line/session.js';
import { runCli } from '../platform/config/cli.js';
import { evaluationAddress } from './token-socket.client.js';

/** The command line of the repository. Without SVC_URL it uses the evaluation server of this machine. */
await runCli((args, print) => {
  const environment = processEnvironment(print);
  return svc(args, { ...environment, evaluation: () => evaluationAddress(environment.env) });
});
