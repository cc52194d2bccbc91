import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../../../src/platform/observability/metrics/metrics.js';
import { processFolder } from '../../../../test/support/databases/process-resources.js';
import { CertificateAuthority } from '../../../../test/support/peers/certificates.js';
import { startProxy } from '../../support/proxy.peer.js';
import { startTraceCollector } from '../../../../test/integration/tracing/trace-collector.js';
import { eventually, instancePath } from '../../../../test/support/runtime/runtime-client.js';
import { CollectedService, traced } from '../../../../test/integration/tracing/trace-support.js';

describe('collectors', () => {
  const service = new CollectedService({ OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  const send = async (count = 1): Promise<string[]> => {
    const requests = Array.from({ length: count }, () => traced());
    for (const { headers } of requests) {
      expect((await service.app.request('GET', instancePath('0'), { headers })).status).toBeLessThan(500);
    }
    return requests.map(({ traceId }) => traceId);
  };
  const countSpans = async (outcome: string): Promise<number> => {
    const text = await service.app.nest.get(Metrics).text();
    const [, count] = new RegExp(`svc_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text) ?? [];
    return Number(count);
  };
  const waitForTrace = (traceId: string | undefined): Promise<boolean> =>
    eventually(
      () => Promise.resolve(service.collector.spans.some((span) => span.traceId === traceId)),
      (isThere) => isThere,
    );

  it('that hang get one batch at once, and spans beyond the queue are dropped and counted', async () => {
    service.collector.answer = () => undefined;
    await service.serve({ OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' });
    await send(10);
    expect(await countSpans('dropped')).toBeGreaterThan(0);
    expect(service.collector.openSockets()).toBeLessThanOrEqual(1);
    await eventually(
      () => countSpans('failed'),
      (failed) => failed > 0,
    );
    service.collector.answer = undefined;
    const [traceId] = await send();
    await waitForTrace(traceId);
  });

  it('that are briefly unavailable get the batch with a retry', async () => {
    let refused = 0;
    service.collector.answer = (response) => {
      refused += 1;
      service.collector.answer = undefined;
      response.writeHead(503).end('secret of the collector');
    };
    await service.serve({ OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
    const [traceId] = await send();
    await waitForTrace(traceId);
    // The collector has the spans before the service has the response.
    await eventually(
      () => countSpans('exported'),
      (exported) => exported > 0,
    );
    expect(refused).toBe(1);
    expect(await countSpans('failed')).toBe(0);
  });

  it.each([
    ['reject', 400, {}],
    ['redirect', 307, { location: 'http://127.0.0.1:1/' }],
  ])('that %s lose the batch immediately', async (_what, status, headers) => {
    service.collector.answer = (response) =>
      void response.writeHead(status, headers).end('x'.repeat(100_000));
    await service.serve();
    await send();
    await eventually(
      () => countSpans('failed'),
      (failed) => failed > 0,
    );
    expect(await countSpans('exported')).toBe(0);
  });

  it('get pending spans when the service stops', async () => {
    await service.serve({ OTEL_BSP_SCHEDULE_DELAY: '60000', OTEL_EXPORTER_OTLP_TIMEOUT: '10000' });
    const [traceId] = await send();
    expect(service.collector.requests).toEqual([]);
    await service.stop();
    expect(service.collector.spans.some((span) => span.traceId === traceId)).toBe(true);
  });

  it('that hang do not delay the shutdown of the service', async () => {
    service.collector.answer = () => undefined;
    await service.serve({ OTEL_BSP_SCHEDULE_DELAY: '60000', OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
    await send();
    await service.stop();
    expect(service.collector.spans).toEqual([]);
  });

  it('are reached over TLS with a custom authority, and through the proxy', async () => {
    const authority = await CertificateAuthority.create();
    const secure = await startTraceCollector(await authority.issue());
    const proxy = await startProxy();
    const file = join(await processFolder(join(tmpdir(), 'svc-collector')), 'ca.pem');
    await writeFile(file, authority.cert);
    try {
      await service.serve({
        OTEL_EXPORTER_OTLP_ENDPOINT: secure.url,
        TLS_CA_FILE: file,
        OTEL_EXPORTER_OTLP_TIMEOUT: '20000',
        OTEL_BSP_SCHEDULE_DELAY: '60000',
        OUTBOUND_PROXY: proxy.url,
        OUTBOUND_NO_PROXY: 'localhost',
      });
      const [traceId] = await send();
      await service.stop();
      expect(secure.spans.some((span) => span.traceId === traceId)).toBe(true);
      expect(proxy.asked).toContain(new URL(secure.url).host);

      await service.serve({ OTEL_EXPORTER_OTLP_ENDPOINT: secure.url });
      await send();
      await eventually(
        () => countSpans('failed'),
        (failed) => failed > 0,
      );
    } finally {
      await Promise.all([secure.close(), proxy.close(), authority.close()]);
    }
  });
});
