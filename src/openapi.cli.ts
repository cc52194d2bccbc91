import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { oidcIssuer } from './platform/auth/oidc-issuer.js';
import { runCli } from './platform/config/cli.js';
import { Env } from './platform/config/env.js';
import { buildOpenApi } from './openapi.js';

/** Writes openapi.json from the routes alone, without settings, a database or a running service. */
await runCli(async (_args, print) => {
  const options = { env: Env.parse('maintenance', {}), issuer: { inject: [Env], useFactory: oidcIssuer } };
  const app = await NestFactory.create(AppModule.with(options), { preview: true, logger: false });
  writeFileSync('openapi.json', `${JSON.stringify(buildOpenApi(app), null, 2)}\n`);
  print('Wrote openapi.json.');
  return 0;
});
