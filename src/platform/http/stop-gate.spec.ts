import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { StopGate } from './stop-gate.js';

const TWO_REQUESTS = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2);
const SOON_MS = 1_000;

describe('StopGate with pipelined requests', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const gateOf = async (listener: RequestListener): Promise<StopGate> => {
    server = createServer(listener);
    const gate = new StopGate();
    gate.watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return gate;
  };
  const pipelined = (): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(TWO_REQUESTS);
    return socket;
  };
  /** Resolves when both requests have arrived; neither is answered. */
  const twoResponses = async (): Promise<{ gate: StopGate; socket: Socket; responses: ServerResponse[] }> => {
    const responses: ServerResponse[] = [];
    let both: () => void;
    const came = new Promise<void>((resolve) => (both = resolve));
    const gate = await gateOf((_request, response) => {
      if (responses.push(response) === 2) {
        both();
      }
    });
    const socket = pipelined();
    await came;
    return { gate, socket, responses };
  };
  const endsSoon = (end: Promise<void>): Promise<boolean> =>
    Promise.race([end.then(() => true), sleep(SOON_MS, false)]);

  it('forgets all of them, and closes each response once, when the client disconnects', async () => {
    const { gate, socket, responses } = await twoResponses();
    const closed = responses.map((response) => {
      let times = 0;
      response.on('close', () => (times += 1));
      return () => times;
    });
    socket.destroy();
    expect(await endsSoon(gate.close())).toBe(true);
    expect(await endsSoon(gate.disconnect())).toBe(true);
    expect(closed.map((times) => times())).toEqual([1, 1]);
  });

  it('closes a response only once when Node closes it too', async () => {
    const { gate, socket, responses } = await twoResponses();
    const [first, second] = responses as [ServerResponse, ServerResponse];
    let times = 0;
    second.on('close', () => (times += 1));
    first.end('first');
    await once(socket, 'data');
    socket.destroy();
    expect(await endsSoon(gate.close())).toBe(true);
    await sleep(20);
    expect(times).toBe(1);
  });

  it('answers all of them, and closes the connection after the last, when it leaves', async () => {
    const { gate, socket, responses } = await twoResponses();
    gate.leave();
    expect(await answersOf(socket, responses)).toEqual([false, true]);
    expect(await endsSoon(gate.close())).toBe(true);
  });

  it('does the same for requests that arrive while it leaves', async () => {
    const gate = await gateOf((_request, response) => void setTimeout(() => response.end('done'), 50));
    gate.leave();
    expect(await answersOf(pipelined())).toEqual([false, true]);
  });

  /** Returns for each response whether it closes the connection. */
  const answersOf = async (socket: Socket, responses: ServerResponse[] = []): Promise<boolean[]> => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    responses.forEach((response) => response.end('done'));
    await once(socket, 'close');
    const answers = text.split('HTTP/1.1 200 OK').slice(1);
    return answers.map((answer) => answer.includes('Connection: close'));
  };
});
