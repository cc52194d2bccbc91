import { WebSocket } from 'undici';

const REPLY_TIMEOUT_MS = 30_000;

/** Resources held by a process. */
export interface ProcessResources {
  /** Bytes of live objects after garbage collection. */
  heapBytes: number;
  /** Open sockets and running timers, as Node.js counts them. */
  handles: number;
  /** Kinds of these handles, for diagnosis. */
  kinds: string;
}

/**
 * Inspects a Node.js process started with `--inspect` through the inspector protocol
 * (https://chromedevtools.github.io/devtools-protocol/v8/): collects garbage and reports what remains.
 */
export class ProcessInspector {
  private id = 0;

  private constructor(private readonly socket: WebSocket) {}

  /**
   * Connects to the inspector on a loopback port.
   * @throws Error when there is no inspector
   */
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

  async resources(): Promise<ProcessResources> {
    // Objects released by finalizers are collected the second time.
    await this.send('HeapProfiler.collectGarbage');
    await this.send('HeapProfiler.collectGarbage');
    const expression = `JSON.stringify({
      heapBytes: process.memoryUsage().heapUsed + process.memoryUsage().external,
      handles: process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout/.test(name)).length,
      kinds: process.getActiveResourcesInfo().toSorted().join(' '),
    })`;
    const { result } = (await this.send('Runtime.evaluate', { expression })) as { result: { value: string } };
    return JSON.parse(result.value) as ProcessResources;
  }

  close(): void {
    this.socket.close();
  }

  private send(method: string, params: object = {}): Promise<unknown> {
    this.id += 1;
    const { id } = this;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} timed out`)), REPLY_TIMEOUT_MS);
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
