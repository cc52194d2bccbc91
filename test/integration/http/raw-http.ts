import { connect } from 'node:net';

const QUIET_MS = 5_000;

/** Everything received on one socket until the server closed it or the wait timed out. */
export interface RawAnswer {
  text: string;
  status: number | undefined;
  body: string;
  isClosed: boolean;
}

/** Raw request, including line ends. Parts are sent one after the other with a pause in between. */
export interface RawRequest {
  parts: (string | Buffer)[];
  pauseMs?: number;
  /** How long to wait for the server to close before giving up. */
  patienceMs?: number;
  /** Called whenever bytes are received. */
  onBytes?: () => void;
}

/** Sends raw bytes to an HTTP server without a client library, and reads until the server closes the connection. */
export function sendRaw(
  url: string,
  { parts, pauseMs = 5, patienceMs = QUIET_MS, onBytes }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ...parse(Buffer.concat(chunks).toString('latin1')), isClosed });
    };
    const timer = setTimeout(() => finish(false), patienceMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      onBytes?.();
    });
    socket.on('close', () => finish(true));
    // A reset connection counts as a closed one.
    socket.on('error', () => undefined);
    void sendParts(socket, parts, pauseMs);
  });
}

async function sendParts(
  socket: { write(part: string | Buffer): boolean; writable: boolean },
  parts: (string | Buffer)[],
  pauseMs: number,
): Promise<void> {
  for (const part of parts) {
    if (!socket.writable) {
      return;
    }
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function parse(text: string): Pick<RawAnswer, 'text' | 'status' | 'body'> {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  const end = text.indexOf('\r\n\r\n');
  return {
    text,
    status: status === undefined ? undefined : Number(status),
    body: end < 0 ? '' : text.slice(end + 4),
  };
}
