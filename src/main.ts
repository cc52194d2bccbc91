import { logErrorAndExit } from './platform/observability/logging/log.js';
import { Env } from './platform/config/env.js';

/** Entry point of production. The process exits with status 78 when settings are missing or invalid. */
try {
  const env = Env.fromProcess('production');
  // Imported after the settings are checked: loading the rest takes seconds on a small machine, and invalid settings
  // should be reported at once.
  const [{ serve }, { oidcIssuer }] = await Promise.all([
    import('./serve.js'),
    import('./platform/auth/oidc-issuer.js'),
  ]);
  await serve({ env, issuer: { inject: [Env], useFactory: oidcIssuer }, host: env.get('HOST') });
} catch (error) {
  logErrorAndExit(error);
}
