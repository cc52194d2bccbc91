import { ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { spanSource } from './span-source.js';
import { recorded, ServiceSpan, type SpanBeginning } from './spans.js';

describe('ServiceSpan', () => {
  const exporter = new InMemorySpanExporter();
  const start = (name: string, beginning: SpanBeginning = {}): ServiceSpan =>
    ServiceSpan.start(spanSource(new SimpleSpanProcessor(exporter)).tracer, name, beginning, ROOT_CONTEXT);
  const ended = () => exporter.getFinishedSpans().at(-1);

  beforeAll(() => void vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_on'));
  beforeEach(() => exporter.reset());
  afterAll(() => void vi.unstubAllEnvs());

  it('limits names, texts, attributes and links', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`key${index}`, 'x'.repeat(5_000)]),
    );
    const links = Array.from({ length: 500 }, () => ({ context: start('other').spanContext() }));
    start('n'.repeat(1_000), { attributes, links }).end();
    expect(ended()?.name).toHaveLength(128);
    expect(Object.keys(ended()?.attributes ?? {})).toHaveLength(64);
    expect(ended()?.links).toHaveLength(128);
    expect(JSON.stringify(ended()?.attributes).length).toBeLessThan(100_000);
  });

  it('keeps the first reason of a failure, without error messages', async () => {
    const failed = recorded(start('call'), (span) => {
      span.fail('HTTP_503');
      return Promise.reject(new TypeError('secret'));
    });
    await expect(failed).rejects.toThrow(TypeError);
    expect(ended()).toMatchObject({ attributes: { 'error.type': 'HTTP_503' }, events: [] });
    expect(JSON.stringify(ended()?.status)).not.toContain('secret');
  });

  it.each([undefined, null])('records a rejection with %s as a failure', async (thrown) => {
    // oxlint-disable-next-line prefer-promise-reject-errors -- the behaviour under test
    await expect(recorded(start('work'), () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(ended()?.status).toEqual({ code: SpanStatusCode.ERROR });
  });
});
