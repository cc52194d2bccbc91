import { endWithStartFailure } from './platform/observability/logging/log.js';
import { Env } from './platform/config/env.js';

/** Production: settings are complete or the process ends with status 78. */
try {
  const env = Env.fromProcess('production');
  // Only now: to load the rest takes seconds on a small machine, and wrong settings are to be told at once.
  const [{ serve }, { oidcIssuer }] = await Promise.all([
    import('./serve.js'),
    import('./platform/auth/oidc-issuer.js'),
  ]);
  await serve({ env, issuer: { inject: [Env], useFactory: oidcIssuer }, host: env.get('HOST') });
} catch (error) {
  endWithStartFailure(error);
}
