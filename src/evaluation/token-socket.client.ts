import { request } from 'node:http';
import type { TokenOrder } from './evaluation-issuer.js';
import { readSocketFile, type SocketFile } from './socket-file.js';
import type { Env } from '../config/env.js';

const TIMEOUT_MS = 5_000;

/** Thrown when no token can be had from the evaluation server; the message says what to do. */
class TokenSocketError extends Error {
  override readonly name = 'TokenSocketError';
}

/**
 * Gets a token from the evaluation server that runs on this data folder.
 * @throws TokenSocketError when there is no such server, or it refuses the order
 */
export async function orderToken(dataDir: string, order: TokenOrder): Promise<string> {
  const file = await readSocketFile(dataDir);
  const answer = file && (await ask(file, 'POST', JSON.stringify(order)));
  if (answer === undefined) {
    throw new TokenSocketError(
      `No evaluation server is running on DATA_DIR ${dataDir}. Start one with "npm run dev", or set DATA_DIR to its folder.`,
    );
  }
  if (answer.status !== 200) {
    throw new TokenSocketError(answer.text);
  }
  return answer.text;
}

/** Whether the server that wrote the file still runs. */
export async function isAlive(file: SocketFile): Promise<boolean> {
  const answer = await ask(file, 'GET', '');
  return answer?.status === 200 && answer.text === file.issuer;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** @returns undefined when nobody answers */
function ask({ socket }: SocketFile, method: string, body: string): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const nobody = (): void => resolve(undefined);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    request({ socketPath: socket, method, path: '/', signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk)).on('error', nobody);
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', nobody)
      .end(body);
  });
}

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
