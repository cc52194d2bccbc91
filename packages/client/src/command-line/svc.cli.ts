import { runCli } from '../../../../src/platform/config/cli.js';
import { surroundingsOf } from './session.js';
import { svc } from './svc.command.js';

/** The program `svc` of the client package, without evaluation server. */
await runCli((args, print) => svc(args, surroundingsOf(print)));
