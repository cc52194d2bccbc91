import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Requests to send, their rate and duration. */
export interface SteadyLoad {
  url: string;
  token: string;
  perSecond: number;
  seconds: number;
}

/** Duration of warm-up requests, which compile the client's code and open its connections. */
const WARM_UP_SECONDS = 1;

/**
 * Sends GET requests at fixed times, regardless of responses, in a separate process. Started with fork: receives one
 * SteadyLoad message, replies `ready` after a warm-up, and upon `go` measures and sends the milliseconds that each request
 * took from its scheduled time.
 */
process.once('message', (load: SteadyLoad) => void serve(load));

async function serve(load: SteadyLoad): Promise<void> {
  const dispatcher = new Agent({ connections: 50 });
  await run({ ...load, seconds: WARM_UP_SECONDS }, dispatcher);
  process.once('message', () => {
    void run(load, dispatcher).then((latencies) => process.send?.(latencies, () => process.exit(0)));
  });
  process.send?.('ready');
}

async function run({ url, token, perSecond, seconds }: SteadyLoad, dispatcher: Agent): Promise<number[]> {
  const headers = { authorization: `Bearer ${token}` };
  const start = performance.now();
  const send = async (due: number): Promise<number> => {
    await sleep(Math.max(0, due - performance.now()));
    const response = await request(url, { dispatcher, headers });
    await response.body.text();
    if (response.statusCode !== 200) {
      throw new Error(`a request was answered ${response.statusCode}`);
    }
    return performance.now() - due;
  };
  return Promise.all(
    Array.from({ length: perSecond * seconds }, (_, index) => send(start + (index * 1_000) / perSecond)),
  );
}
