import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import type { TokenOrder } from './evaluation-issuer.js';
import type { Env } from '../platform/config/env.js';

const TIMEOUT_MS = 5_000;
const FILE_NAME = 'evaluation.json';
const OWNER_ONLY = 0o600;

const socketFile = z.object({
  socket: z.string().min(1),
  /** Issuer of the tokens, which identifies the server. */
  issuer: z.string().min(1),
  pid: z.number(),
});

/** Contents of the file by which the evaluation server of a data folder is found. */
type SocketFile = z.output<typeof socketFile>;

/** Reads the file in a folder; undefined when it is missing or invalid. */
export async function readSocketFile(dataDir: string): Promise<SocketFile | undefined> {
  try {
    return socketFile.parse(JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Writes the file atomically, readable only by its owner. If several servers try at once, one succeeds.
 * @returns false when the file already exists
 */
export async function claimSocketFile(dataDir: string, content: SocketFile): Promise<boolean> {
  await mkdir(dataDir, { recursive: true });
  const draft = join(dataDir, `${FILE_NAME}.${content.pid}`);
  await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: OWNER_ONLY });
  try {
    await link(draft, join(dataDir, FILE_NAME));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the file, regardless of which server wrote it. */
export function removeSocketFile(dataDir: string): Promise<void> {
  return rm(join(dataDir, FILE_NAME), { force: true });
}

/** Thrown when the evaluation server provides no token; the message says what to do. */
class TokenSocketError extends Error {
  override readonly name = 'TokenSocketError';
}

/**
 * Requests a token from the evaluation server that runs on a data folder.
 * @throws TokenSocketError when there is no such server, or it rejects the request
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

/** Returns whether the server that wrote the file is still running. */
export async function isAlive(file: SocketFile): Promise<boolean> {
  const answer = await ask(file, 'GET', '');
  return answer?.status === 200 && answer.text === file.issuer;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** Sends a request; undefined when no server responds. */
function ask({ socket }: SocketFile, method: string, body: string): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const noAnswer = (): void => resolve(undefined);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    request({ socketPath: socket, method, path: '/', signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk)).on('error', noAnswer);
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', noAnswer)
      .end(body);
  });
}

const TOKEN_SECONDS = 600;

/** Returns the address of the evaluation server of this machine, and a token with every permission. */
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
