import { runCli } from '../../../../src/platform/config/cli.js';
import { surroundingsOf } from './session.js';
import { svc } from './svc.command.js';

/** The program of the client package: `svc`. It knows of no evaluation server. */
await runCli((args, print) => svc(args, surroundingsOf(print)));
