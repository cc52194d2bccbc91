import type { Logger } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { flows, node, processFile, timerEvent } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { instancePath, started } from '../../support/runtime/runtime-client.js';
import { CollectedService, traced } from './trace-support.js';

const timed = processFile(
  'timed',
  `${node('startEvent', 'start')}
   ${node('intermediateCatchEvent', 'wait', timerEvent('timeDuration', 'PT1H'))}
   ${node('endEvent', 'end')}${flows('start>wait wait>end')}`,
);

describe('sampling of traces', () => {
  const service = new CollectedService();

  /** Sends one request per trace flag and one without `traceparent`. Returns whether each was recorded. */
  const recordedOf = async (...flags: string[]): Promise<boolean[]> => {
    const requests = flags.map((each) => traced(each));
    for (const { headers } of requests) {
      await service.app.request('GET', instancePath('0'), { headers });
    }
    await service.app.request('GET', instancePath('0'));
    // Stopping the service sends all pending spans.
    await service.stop();
    const ids = new Set(service.collector.spans.map(({ traceId }) => traceId));
    const known = requests.map(({ traceId }) => ids.has(traceId));
    return [...known, ids.size > known.filter(Boolean).length];
  };

  it('uses the configured ratio, ignoring the flags of callers', async () => {
    await service.serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    expect(await recordedOf('01', '00')).toEqual([false, false, false]);

    await service.serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1' });
    expect(await recordedOf('01', '00')).toEqual([true, true, true]);
  });

  it('follows the flags of callers if configured', async () => {
    await service.serve({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    expect(await recordedOf('01', '00')).toEqual([true, false, false]);

    await service.serve({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
    expect(await recordedOf('01', '00')).toEqual([true, false, true]);
  });

  it('is random, independent of the trace id that a caller chooses', async () => {
    await service.serve({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
    const { headers, parentId } = traced('01');
    for (let count = 0; count < 64; count += 1) {
      await service.app.request('GET', instancePath('0'), { headers });
    }
    await service.stop();
    const requests = service.collector.spans.filter(({ parentSpanId }) => parentSpanId === parentId).length;
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThan(64);
  });

  it('adds no database statements, even if a job continues the trace', async () => {
    let isTraced = true;
    const statements = async (): Promise<number> => {
      const published = await publish(service.app, { bpmn: timed });
      await started(service.app, published, 'timed', {});
      let count = 0;
      service.app.dataSource.logger = {
        logQuery: () => void (count += 1),
        logQueryError: () => undefined,
      } as unknown as Logger;
      const { instanceMetadata } = await started(service.app, published, 'timed', {});
      const counted = count;
      const { processInstanceId: instanceId } = instanceMetadata;
      const [job] = await service.app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
      expect('ledToByTrace' in (job?.payload ?? {})).toBe(isTraced);
      return counted;
    };
    await service.serve();
    const counted = await statements();
    await service.stop();
    isTraced = false;
    await service.serveUntraced();
    expect(await statements()).toBe(counted);
  });

  it('is disabled without a collector', async () => {
    await service.serveUntraced();
    const published = await publish(service.app, { bpmn: timed });
    const { instanceMetadata } = await started(service.app, published, 'timed', {});
    const { processInstanceId: instanceId } = instanceMetadata;
    const [job] = await service.app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
    expect(Object.keys(job?.payload ?? {})).toEqual(['text']);
    expect(service.collector.requests.some(({ body }) => body.includes('timed'))).toBe(false);
  });
});
