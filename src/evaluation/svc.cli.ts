import { svc } from '../command-line/svc.command.js';
import { surroundingsOf } from '../command-line/surroundings.js';
import { runCli } from '../config/cli.js';
import { evaluationAddress } from './evaluation-address.js';

/** The command line of the checkout: without SVC_URL it means the evaluation server of this machine. */
await runCli((args, print) => {
  const surroundings = surroundingsOf(print);
  return svc(args, { ...surroundings, evaluation: () => evaluationAddress(surroundings.env) });
});
