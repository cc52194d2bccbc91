import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { recorded } from '../tracing/active-span.js';
import { ServiceSpan } from '../tracing/service-span.js';
import { otlpJson } from './otlp-json.js';

const place = {
  context: {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
  },
  parentSpanId: undefined,
  offsetMs: 1_760_000_000_000,
  sink: { add: () => undefined },
};

function written(span: ServiceSpan): Record<string, unknown> {
  span.end();
  const { resourceSpans } = JSON.parse(otlpJson([span], {}, { name: 'n', version: 'v' })) as {
    resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[];
  };
  return resourceSpans[0]?.scopeSpans[0]?.spans[0] ?? {};
}

describe('otlpJson', () => {
  it('writes a span as OTLP has it', () => {
    const attributes = { text: 'a', whole: 3, part: 0.5, yes: true, list: ['a', 'b'], none: undefined };
    const span = written(
      new ServiceSpan('work', place, { kind: SpanKind.CLIENT, attributes }).fail('broken'),
    );
    expect(span).toMatchObject({
      traceId: place.context.traceId,
      spanId: place.context.spanId,
      flags: 1,
      name: 'work',
      kind: 3,
      status: { code: 2 },
      attributes: [
        { key: 'text', value: { stringValue: 'a' } },
        { key: 'whole', value: { intValue: '3' } },
        { key: 'part', value: { doubleValue: 0.5 } },
        { key: 'yes', value: { boolValue: true } },
        { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
        { key: 'error.type', value: { stringValue: 'broken' } },
      ],
    });
    expect(span).not.toHaveProperty('parentSpanId');
    const [begun, ended] = [span['startTimeUnixNano'], span['endTimeUnixNano']].map(String);
    expect(begun).toMatch(/^176\d{16}$/);
    expect(BigInt(ended ?? '')).toBeGreaterThanOrEqual(BigInt(begun ?? ''));
  });

  it('bounds names, texts, attributes and links', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`key${index}`, 'x'.repeat(5_000)]),
    );
    const links = Array.from({ length: 500 }, () => ({ context: place.context }));
    const span = written(new ServiceSpan('n'.repeat(1_000), place, { attributes, links }));
    expect(String(span['name'])).toHaveLength(128);
    expect(span['attributes']).toHaveLength(64);
    expect(span['links']).toHaveLength(128);
    expect(JSON.stringify(span['attributes']).length).toBeLessThan(100_000);
  });

  it('keeps no message of an error', () => {
    const span = new ServiceSpan('work', place);
    span.recordException(new TypeError('secret'));
    expect(JSON.stringify(written(span))).not.toContain('secret');
  });

  it('keeps what was told of a failure, and takes whatever was thrown for one', async () => {
    const told = new ServiceSpan('call', place);
    const failed = recorded(told, (span) => {
      span.fail('HTTP_503');
      return Promise.reject(new TypeError('secret'));
    });
    await expect(failed).rejects.toThrow(TypeError);
    expect(told.attributes['error.type']).toBe('HTTP_503');

    for (const thrown of [undefined, null]) {
      const span = new ServiceSpan('work', place);
      // oxlint-disable-next-line prefer-promise-reject-errors -- that is what is tried
      await expect(recorded(span, () => Promise.reject(thrown))).rejects.toBe(thrown);
      expect(span.status.code).toBe(SpanStatusCode.ERROR);
    }
  });
});
