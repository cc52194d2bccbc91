import { randomUUID } from 'node:crypto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  ParentBasedSampler,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
// The package does not export the one function that reads OTEL_TRACES_SAMPLER.
import { buildSamplerFromEnv } from '@opentelemetry/sdk-trace-base/build/src/config.js';
import { setDefaultSampling } from '../../config/trace-settings.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../../service-version.js';
import { newTraceId } from './trace-context.js';
import { SpanIds, type SpanSource } from './tracer.js';

const LIMITS = {
  attributeCountLimit: 64,
  attributeValueLengthLimit: 1_024,
  linkCountLimit: 128,
  eventCountLimit: 1,
};

/** Creates a source of spans, configured by the environment variables of OpenTelemetry, that passes spans to a processor. */
export function spanSource(processor: SpanProcessor): SpanSource & { provider: BasicTracerProvider } {
  const ids = new SpanIds();
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': SERVICE_NAME,
          'service.version': SERVICE_VERSION,
          'service.instance.id': randomUUID(),
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: configuredSampler(),
    spanLimits: LIMITS,
    idGenerator: ids,
    spanProcessors: [processor],
  });
  return { provider, ids, tracer: provider.getTracer(SERVICE_NAME, SERVICE_VERSION) };
}

/**
 * Returns a sampler that decides with a random id rather than the trace id. Callers choose trace ids, and could otherwise
 * have all or none of their requests recorded. Child spans within the service follow their parent.
 */
function configuredSampler(): Sampler {
  setDefaultSampling();
  const configured = buildSamplerFromEnv();
  const drawn: Sampler = {
    shouldSample: (context, _traceId, ...rest) => configured.shouldSample(context, newTraceId(), ...rest),
    toString: () => String(configured),
  };
  return new ParentBasedSampler({ root: drawn, remoteParentSampled: drawn, remoteParentNotSampled: drawn });
}
