import type { Env } from '../config/env.js';
import { orderToken } from './token-socket.client.js';

const TOKEN_SECONDS = 600;

/** Where the evaluation server of this machine is, and a token of it with every permission. */
export async function evaluationAddress(env: Env): Promise<{ url: string; token: string }> {
  return {
    url: `http://127.0.0.1:${env.get('PORT')}`,
    token: await orderToken(env.get('DATA_DIR'), {
      subject: 'jane.doe',
      permissions: 'all',
      ttlSeconds: TOKEN_SECONDS,
    }),
  };
}
