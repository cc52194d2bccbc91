import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  type KafkaMock,
  manageRabbitmq,
  startKafkaMock,
  startNats,
  startRabbitmq,
} from '../../../../../test/support/discovery/servers.js';
import { curlJson, type RealComponent } from './real-component.js';

const STREAM = JSON.stringify({ name: 'ORDERS', subjects: ['orders.*'], storage: 'file' });

/** RabbitMQ with a topic exchange, verified with rabbitmqctl. */
export async function rabbitmqBroker(): Promise<RealComponent> {
  const rabbit = await startRabbitmq();
  const { server, port, endpoint } = rabbit;
  await manageRabbitmq(port, 'PUT', '/exchanges/%2F/orders', { type: 'topic' });
  await manageRabbitmq(port, 'PUT', '/exchanges/%2F/direct', { type: 'direct' });
  return {
    key: 'messages',
    map: 'infrastructure',
    declared: { kind: 'rabbitmq', endpoint, username: 'probe', password: 'canary-probe' },
    truth: async () => {
      const json = async <Body>(...args: string[]): Promise<Body> =>
        JSON.parse(await rabbit.control(...args, '--formatter=json')) as Body;
      const cluster = await json<{ running_nodes: string[] }>('cluster_status');
      const exchanges = await json<{ name: string; type: string }[]>('list_exchanges', 'name', 'type');
      const topics = exchanges.filter(({ name, type }) => type === 'topic' && !name.startsWith('amq.'));
      const version = (await rabbit.control('version')).trim();
      return { type: 'rabbitmq', version, brokers: cluster.running_nodes.length, topics: topics.length };
    },
    stop: () => server.kill(),
    start: () => server.restart(),
    end: () => rabbit.stop(),
  };
}

/** NATS with a stream, verified with curl. */
export async function natsBroker(): Promise<RealComponent> {
  const { server, endpoint, clientPort } = await startNats();
  await natsRequest(clientPort, '$JS.API.STREAM.CREATE.ORDERS', STREAM);
  return {
    key: 'signals',
    map: 'infrastructure',
    declared: { kind: 'nats', endpoint },
    truth: async () => {
      const { version } = await curlJson<{ version: string }>(`${endpoint}/varz`);
      const { num_routes: routes } = await curlJson<{ num_routes: number }>(`${endpoint}/routez`);
      const { streams } = await curlJson<{ streams: number }>(`${endpoint}/jsz`);
      return { type: 'nats', version, brokers: 1 + routes, topics: streams };
    },
    stop: () => server.kill(),
    start: () => server.restart(),
    end: () => server.stop(),
  };
}

/** Sends one request in the NATS protocol and waits for the response. */
async function natsRequest(port: number, subject: string, body: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    const answered = new Promise((resolve, reject) => {
      let text = '';
      socket.on('error', reject).on('data', (chunk) => {
        text += chunk.toString();
        if (text.includes('MSG reply')) {
          resolve(text);
        }
      });
    });
    const publish = `PUB ${subject} reply ${Buffer.byteLength(body)}\r\n${body}\r\n`;
    socket.write(`CONNECT {"verbose":false}\r\nSUB reply 1\r\n${publish}`);
    await answered;
  } finally {
    socket.destroy();
  }
}

/** A cluster of three Kafka brokers at one stable address, verified with kcat. */
export async function kafkaBroker(): Promise<RealComponent> {
  let mock = await startKafkaMock('orders');
  const front = new Front();
  await front.open(mock);
  return {
    key: 'events',
    map: 'infrastructure',
    declared: { kind: 'kafka', endpoint: `kafka://127.0.0.1:${front.port}`, options: { expectedBrokers: 3 } },
    truth: async () => {
      const { brokers, topics } = await mock.metadata();
      return { type: 'kafka', brokers: brokers.length, topics: topics.length };
    },
    stop: async () => {
      await front.close();
      await mock.server.kill();
    },
    start: async () => {
      await mock.server.stop();
      mock = await startKafkaMock('orders');
      await front.open(mock);
    },
    end: async () => {
      await front.close();
      await mock.server.stop();
    },
  };
}

/** Forwards a stable port to the first broker of the mock, which uses new ports at each start. */
class Front {
  port = 0;
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  async open({ brokers }: KafkaMock): Promise<void> {
    const [host, port] = (brokers[0] ?? '').split(':');
    const server = createServer((socket) => {
      const behind = connect(Number(port), host);
      for (const each of [socket, behind]) {
        this.sockets.add(each);
        each
          .on('error', () => undefined)
          .on('close', () => {
            this.sockets.delete(each);
            socket.destroy();
            behind.destroy();
          });
      }
      socket.pipe(behind).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    this.sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  }
}
