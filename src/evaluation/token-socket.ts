import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { PermissionNameError, type EvaluationIssuer } from './evaluation-issuer.js';
import { type TestControl, TestControlError } from './test-control.js';
import { claimSocketFile, isAlive, readSocketFile, removeSocketFile } from './token-socket.client.js';

const OWNER_ONLY = 0o600;
const ORDER_MAX_LENGTH = 1_048_576;
const DAY_SECONDS = 86_400;

const tokenOrder = z.object({
  subject: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, '--sub must have 1 to 255 printable characters'),
  permissions: z.union([z.literal('all'), z.array(z.string())]),
  ttlSeconds: z
    .int('--ttl must be a whole number of seconds')
    .min(1, '--ttl must be at least 1 second')
    .max(DAY_SECONDS, `--ttl must be at most ${DAY_SECONDS} seconds`),
});

/** Thrown when another evaluation server already runs on the same data folder. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

/**
 * Issues tokens for `npm run dev:token` on a Unix socket that only the user who runs the server can open. `evaluation.json` in the data
 * folder contains its path while the server runs.
 */
export class TokenSocket {
  /** Handler for tests of applications; set only if the clock stands still. */
  control: TestControl | undefined;

  private constructor(
    private readonly dataDir: string,
    private readonly folder: string,
    private readonly server: Server,
  ) {}

  /**
   * Opens the socket and claims the data folder for this server.
   * @param dataDir setting DATA_DIR; created if it does not exist
   * @throws DataDirInUseError when another running server uses it
   */
  static async open(dataDir: string, issuer: EvaluationIssuer): Promise<TokenSocket> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-evaluation-')); // mode 0700
    const path = join(folder, 'token.sock');
    const server = createServer(
      (request, response) => void answer(request, response, issuer, socket.control),
    );
    const socket = new TokenSocket(dataDir, folder, server);
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(path, resolve);
      });
      await chmod(path, OWNER_ONLY);
      await claimDataDir(dataDir, { socket: path, issuer: issuer.name, pid: process.pid });
    } catch (error) {
      await socket.closeServer();
      throw error;
    }
    return socket;
  }

  async close(): Promise<void> {
    await removeSocketFile(this.dataDir);
    await this.closeServer();
  }

  private async closeServer(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function claimDataDir(
  dataDir: string,
  file: { socket: string; issuer: string; pid: number },
): Promise<void> {
  if (await claimSocketFile(dataDir, file)) {
    return;
  }
  const other = await readSocketFile(dataDir);
  if (other === undefined || !(await isAlive(other))) {
    await removeSocketFile(dataDir); // left behind by a server that was killed
    if (await claimSocketFile(dataDir, file)) {
      return;
    }
  }
  throw new DataDirInUseError(
    `Another evaluation server${other ? ` (process ${other.pid})` : ''} uses DATA_DIR ${dataDir}. ` +
      'Stop it, or set DATA_DIR to another folder.',
  );
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  issuer: EvaluationIssuer,
  control: TestControl | undefined,
): Promise<void> {
  const { method = '', url = '' } = request;
  const isForControl = control !== undefined && url !== '/';
  try {
    if (isForControl) {
      response.end(JSON.stringify(await control.handle(method, url, await readOrder(request))));
    } else {
      response.end(method === 'POST' ? await mint(await readOrder(request), issuer) : issuer.name);
    }
  } catch (error) {
    const fallback = isForControl ? 'The request failed.' : 'The token could not be created.';
    const what = faultOf(error);
    response.writeHead(what === undefined ? 500 : 400).end(what ?? fallback);
  }
}

/** Describes an invalid request; undefined when the server itself failed. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ message }) => message).join('\n');
  }
  if (error instanceof PermissionNameError) {
    return error.details;
  }
  return error instanceof TestControlError ? error.message : undefined;
}

function mint(order: unknown, issuer: EvaluationIssuer): Promise<string> {
  return issuer.mint(tokenOrder.parse(order));
}

/** @throws TestControlError */
async function readOrder(request: IncomingMessage): Promise<unknown> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += String(chunk);
    if (body.length > ORDER_MAX_LENGTH) {
      throw new TestControlError(`The request is longer than ${ORDER_MAX_LENGTH} characters.`);
    }
  }
  try {
    return JSON.parse(body);
  } catch {
    throw new TestControlError('The request is not JSON.');
  }
}
