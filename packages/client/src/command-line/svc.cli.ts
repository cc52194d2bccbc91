import { runCli } from '../../../../src/platform/config/cli.js';
import { processEnvironment } from './session.js';
import { svc } from './svc.command.js';

/** Entry point of `svc` in the client package; cannot start an evaluation server. */
await runCli((args, print) => svc(args, processEnvironment(print)));
