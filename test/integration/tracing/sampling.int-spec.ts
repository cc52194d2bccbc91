import type { Logger } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/modules/jobs/storage/runtime-job.entity.js';
import { TestApp } from '../../support/app.js';
import { startTraceCollector, type TraceCollector } from '../../support/peers/trace-collector.js';
import { flows, node, processFile, timerEvent } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { instancePath, started } from '../../support/runtime/runtime-client.js';
import { TRACED, traced } from './trace-support.js';

const timed = processFile(
  'timed',
  `${node('startEvent', 'start')}
   ${node('intermediateCatchEvent', 'wait', timerEvent('timeDuration', 'PT1H'))}
   ${node('endEvent', 'end')}${flows('start>wait wait>end')}`,
);

describe('what is recorded', () => {
  let collector: TraceCollector;
  let app: TestApp;
  let isOpen = false;

  beforeAll(async () => {
    collector = await startTraceCollector();
  });
  afterEach(async () => {
    await stop();
    collector.spans.length = 0;
  });
  afterAll(() => collector.close());

  const stop = async (): Promise<void> => {
    if (isOpen) {
      isOpen = false;
      await app.close();
    }
  };
  const serve = async (settings: Record<string, string>): Promise<void> => {
    app = await TestApp.start({
      ...TRACED,
      JOBS_WORKERS: 'false',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...settings,
    });
    isOpen = true;
  };
  /** The trace ids that the collector has, of one request for each of these flags, and of one without a traceparent. */
  const recordedOf = async (...flags: string[]): Promise<boolean[]> => {
    const requests = flags.map((each) => traced(each));
    for (const { headers } of requests) {
      await app.request('GET', instancePath('0'), { headers });
    }
    await app.request('GET', instancePath('0'));
    // What waits is sent by then.
    await stop();
    const ids = new Set(collector.spans.map(({ traceId }) => traceId));
    const known = requests.map(({ traceId }) => ids.has(traceId));
    return [...known, ids.size > known.filter(Boolean).length];
  };

  it('is the share that the operator has set, whatever a caller says', async () => {
    await serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    expect(await recordedOf('01', '00')).toEqual([false, false, false]);

    await serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1' });
    expect(await recordedOf('01', '00')).toEqual([true, true, true]);
  });

  it('is what callers say where the operator lets them decide', async () => {
    await serve({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    expect(await recordedOf('01', '00')).toEqual([true, false, false]);

    await serve({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
    expect(await recordedOf('01', '00')).toEqual([true, false, true]);
  });

  it('is drawn by lot, not by the trace id that a caller chooses', async () => {
    await serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
    const { headers, parentId } = traced('01');
    for (let count = 0; count < 64; count += 1) {
      await app.request('GET', instancePath('0'), { headers });
    }
    await stop();
    const requests = collector.spans.filter(({ parentSpanId }) => parentSpanId === parentId).length;
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThan(64);
  });

  it('costs no statement, also where a job goes on with the trace', async () => {
    let isTraced = true;
    const statements = async (): Promise<number> => {
      const published = await publish(app, { bpmn: timed });
      await started(app, published, 'timed', {});
      let count = 0;
      app.dataSource.logger = {
        logQuery: () => void (count += 1),
        logQueryError: () => undefined,
      } as unknown as Logger;
      const { instanceMetadata } = await started(app, published, 'timed', {});
      const counted = count;
      const { processInstanceId: instanceId } = instanceMetadata;
      const [job] = await app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
      expect('ledToByTrace' in (job?.payload ?? {})).toBe(isTraced);
      return counted;
    };
    await serve({});
    const counted = await statements();
    await stop();
    isTraced = false;
    app = await TestApp.start({ JOBS_WORKERS: 'false' });
    isOpen = true;
    expect(await statements()).toBe(counted);
  });

  it('is nothing without a collector: no span, no header, no trace in a job', async () => {
    app = await TestApp.start({ JOBS_WORKERS: 'false' });
    isOpen = true;
    const published = await publish(app, { bpmn: timed });
    const { instanceMetadata } = await started(app, published, 'timed', {});
    const { processInstanceId: instanceId } = instanceMetadata;
    const [job] = await app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
    expect(Object.keys(job?.payload ?? {})).toEqual(['text']);
    expect(collector.requests.some(({ body }) => body.includes('timed'))).toBe(false);
  });
});
