import { oidcIssuer } from './common/auth/oidc-issuer.js';
import { endWithStartFailure } from './common/logging/start-failure.js';
import { Env } from './config/env.js';
import { serve } from './serve.js';

/** Production: settings are complete or the process ends with status 78. */
try {
  const env = Env.fromProcess('production');
  await serve({ env, issuer: { inject: [Env], useFactory: oidcIssuer }, host: env.get('HOST') });
} catch (error) {
  endWithStartFailure(error);
}
