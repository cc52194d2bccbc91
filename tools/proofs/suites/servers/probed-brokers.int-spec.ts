import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../test/support/databases/process-resources.js';
import { output, tryStart } from '../../../../test/support/databases/local-server.js';
import { component, failureOf, runProbe } from '../../../../test/support/discovery/run-probe.js';
import {
  manageRabbitmq,
  startKafkaMock,
  startNats,
  startRabbitmq,
} from '../../../../test/support/discovery/servers.js';
import { startKafkaTls, startTlsFront } from '../../../../test/support/discovery/tls-servers.js';
import { tlsCertificate } from '../../../../test/support/peers/certificates.js';

/** Warnings of a probe about a certificate that is valid for two days. */
const ENDS_SOON = [{ code: 'certificate_expires', days: 1 }];
const [rabbitmq, nats, kafka] = await Promise.all([
  tryStart(startRabbitmq),
  tryStart(() => startNats()),
  tryStart(() => startKafkaMock('orders')),
]);
afterAll(async () => {
  await Promise.all([rabbitmq.server?.stop(), nats.server?.server.stop(), kafka.server?.server.stop()]);
});

describe('the probe of rabbitmq', () => {
  const { server, missing } = rabbitmq;
  const as = (username: string, password = `canary-${username}`) =>
    component('rabbitmq', server?.endpoint ?? '', { credentials: { username, password } });
  const skipped = missing === undefined ? '' : `: ${missing}`;

  it.skipIf(missing)(`reports the same as rabbitmqctl, with only the tag monitoring${skipped}`, async () => {
    for (const name of ['orders', 'invoices']) {
      await manageRabbitmq(server!.port, 'PUT', `/exchanges/%2F/${name}`, { type: 'topic' });
    }
    await manageRabbitmq(server!.port, 'PUT', '/exchanges/%2F/direct', { type: 'direct' });
    const listed = await server!.control('list_exchanges', 'name', 'type', '--no-table-headers');
    const topics = listed
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([name, type]) => type === 'topic' && !name!.startsWith('amq.'));
    const status = JSON.parse(await server!.control('cluster_status', '--formatter', 'json')) as {
      running_nodes: string[];
    };
    expect(await runProbe(as('probe'))).toEqual({
      type: 'rabbitmq',
      version: await server!.control('version'),
      brokers: status.running_nodes.length,
      topics: topics.length,
      warnings: [],
    });
    expect(topics).toHaveLength(2);
  });

  it.skipIf(missing)('connects to an AMQP port, and warns of missing brokers', async () => {
    const amqp = component('rabbitmq', `amqp://127.0.0.1:${server!.amqpPort}`);
    expect(await runProbe(amqp)).toEqual({ type: 'rabbitmq', warnings: [] });
    const dead = component('rabbitmq', `amqp://127.0.0.1:${await freePort()}`);
    expect(await failureOf(dead)).toBe('refused');
    const larger = { ...as('probe'), options: { expectedBrokers: 3 } };
    expect((await runProbe(larger)).warnings).toEqual([{ code: 'broker_down', running: 1, expected: 3 }]);
  });

  it.skipIf(missing)('warns of a certificate that expires soon, and trusts no other', async () => {
    const certificate = await tlsCertificate(2);
    const front = await startTlsFront(server!.amqpPort, certificate);
    const target = component('rabbitmq', `amqps://127.0.0.1:${front.port}`);
    const trusted = { ...target, options: { ca: certificate.cert } };
    expect((await runProbe(trusted)).warnings).toEqual(ENDS_SOON);
    expect(await failureOf(target)).toBe('tls');
    await front.close();
  });

  it.skipIf(missing)(
    'distinguishes wrong credentials, missing permissions, an alarm, a dead node and a live one',
    async () => {
      expect(await failureOf(as('probe', 'wrong'))).toBe('auth');
      expect(await failureOf(as('plain'))).toBe('forbidden');
      await server!.control('set_vm_memory_high_watermark', '0.00001');
      await expect
        .poll(async () => (await runProbe(as('probe'))).warnings, { timeout: 10_000 })
        .toEqual([{ code: 'alarm' }]);
      await server!.server.kill();
      expect(await failureOf(as('probe'))).toBe('refused');
      await server!.server.restart();
      await expect.poll(async () => (await runProbe(as('probe'))).brokers, { timeout: 20_000 }).toBe(1);
    },
  );
});

describe('the probe of nats', () => {
  const { server, missing } = nats;
  const skipped = missing === undefined ? '' : `: ${missing}`;

  it.skipIf(missing)(`reports the same as the monitoring port${skipped}`, async () => {
    const program = await output(['nats-server', '--version']).catch(() => '');
    const found = await runProbe(component('nats', server!.endpoint));
    expect(found).toEqual({ type: 'nats', version: found.version, brokers: 1, topics: 0, warnings: [] });
    const connected = await runProbe(component('nats', `nats://127.0.0.1:${server!.clientPort}`));
    expect(connected).toEqual({ type: 'nats', warnings: [] });
    expect(program === '' || program.includes(found.version!)).toBe(true);
  });

  it.skipIf(missing)('distinguishes a dead server from a live one', async () => {
    const target = component('nats', server!.endpoint);
    await server!.server.kill();
    expect(await failureOf(target)).toBe('refused');
    await server!.server.restart();
    expect((await runProbe(target)).brokers).toBe(1);
  });
});

describe('the probe of kafka', () => {
  const { server, missing } = kafka;
  const skipped = missing === undefined ? '' : `: ${missing}`;
  const at = (...brokers: string[]) => component('kafka', `kafka://${brokers.join(',')}`);

  it.skipIf(missing)(`reports the same as kcat${skipped}`, async () => {
    await expect.poll(async () => (await server!.metadata()).topics.length, { timeout: 10_000 }).toBe(1);
    const { brokers, topics } = await server!.metadata();
    expect(await runProbe(at(server!.brokers[0]!))).toEqual({
      type: 'kafka',
      brokers: brokers.length,
      topics: topics.length,
      warnings: [],
    });
    expect(brokers).toHaveLength(3);
  });

  it.skipIf(missing)('continues with the next address when one is dead', async () => {
    const dead = `127.0.0.1:${await freePort()}`;
    const found = await runProbe(at(dead, ...server!.brokers));
    expect(found).toMatchObject({ brokers: 3, warnings: [{ code: 'broker_down', running: 3, expected: 4 }] });
  });

  it.skipIf(missing)('warns of a certificate that expires soon, and trusts no other', async () => {
    const certificate = await tlsCertificate(2);
    const secure = await startKafkaTls(server!.brokers, certificate);
    const target = { ...at(...secure.brokers), options: { tls: true, ca: certificate.cert } };
    expect(await runProbe(target)).toMatchObject({ brokers: 3, warnings: ENDS_SOON });
    expect(await failureOf({ ...target, options: { tls: true } })).toBe('tls');
    await secure.close();
  });

  it.skipIf(missing)('reports a dead cluster', async () => {
    const { brokers } = server!;
    await server!.server.kill();
    expect(await failureOf(at(...brokers))).toBe('refused');
  });
});
