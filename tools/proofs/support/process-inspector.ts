import { WebSocket } from 'undici';

const REPLY_MS = 30_000;

/** What a process holds. */
export interface Holdings {
  /** Bytes of live objects, after a collection. */
  heapBytes: number;
  /** Open sockets and running timers, as Node.js counts them. */
  handles: number;
  /** What these are, to find out why there are more. */
  kinds: string;
}

/**
 * Looks into a Node.js process that was started with `--inspect`, by the protocol of its inspector
 * (https://chromedevtools.github.io/devtools-protocol/v8/): it collects garbage and tells what is left.
 */
export class ProcessInspector {
  private id = 0;

  private constructor(private readonly socket: WebSocket) {}

  /** @throws Error when nobody listens on this port of loopback */
  static async connect(port: number): Promise<ProcessInspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('no inspector')), { once: true });
    });
    return new ProcessInspector(socket);
  }

  async holdings(): Promise<Holdings> {
    // What a finalizer lets go of is collected the second time.
    await this.ask('HeapProfiler.collectGarbage');
    await this.ask('HeapProfiler.collectGarbage');
    const expression = `JSON.stringify({
      heapBytes: process.memoryUsage().heapUsed + process.memoryUsage().external,
      handles: process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout/.test(name)).length,
      kinds: process.getActiveResourcesInfo().toSorted().join(' '),
    })`;
    const { result } = (await this.ask('Runtime.evaluate', { expression })) as { result: { value: string } };
    return JSON.parse(result.value) as Holdings;
  }

  close(): void {
    this.socket.close();
  }

  private ask(method: string, params: object = {}): Promise<unknown> {
    this.id += 1;
    const { id } = this;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), REPLY_MS);
      const onMessage = ({ data }: { data: unknown }): void => {
        const message = JSON.parse(String(data)) as { id?: number; result?: unknown };
        if (message.id === id) {
          clearTimeout(timer);
          this.socket.removeEventListener('message', onMessage);
          resolve(message.result);
        }
      };
      this.socket.addEventListener('message', onMessage);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
