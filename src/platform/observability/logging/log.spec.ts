import { NoopSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Env } from '../../config/env.js';
import { spanSource } from '../tracing/span-source.js';
import { withSpan } from '../tracing/spans.js';
import { Tracer } from '../tracing/tracer.js';
import { Log } from './log.js';

describe('Log', () => {
  const log = new Log(Env.parse('evaluation', { LOG_LEVEL: 'silent' }));
  const info = vi.spyOn(log['logger'], 'info');
  const logged = (): unknown => info.mock.lastCall?.[0];
  const tracer = (share: number): Tracer => {
    vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', String(share));
    return new Tracer(spanSource(new NoopSpanProcessor()));
  };
  afterEach(() => vi.unstubAllEnvs());

  it.each([0, 1])('adds the ids of a job span, recorded or not (sampling ratio %d)', (share) => {
    const span = tracer(share).job('job', undefined, {});
    withSpan(span, () => log.info('done', { jobId: 1 }));
    const { traceId, spanId } = span?.spanContext() ?? {};
    expect(logged()).toEqual({ trace_id: traceId, span_id: spanId, jobId: 1 });
  });

  it('adds no ids when tracing is off', () => {
    expect(new Tracer().job('job', undefined, {})).toBeUndefined();
    log.info('done', { jobId: 1 });
    expect(logged()).toEqual({ jobId: 1 });
  });
});
