import { Injectable } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import { backoff, type RetryPolicy, withRetries } from '../../../../platform/concurrency/retry.js';
import { Metrics } from '../../../../platform/observability/metrics/metrics.js';
import { currentSpan, inSpan } from '../../../../platform/observability/tracing/spans.js';
import { Env } from '../../../../platform/config/env.js';
import { QuotasService } from '../../../quotas/accounts/quotas.service.js';
import type { Payer } from '../../../quotas/model/quota.types.js';
import type { CallUsage } from '../../workflows/model/call-journal.types.js';
import { ModelCallError } from './model-call.error.js';
import type { ModelRequest, ModelTurn } from './model-client.types.js';
import { OpenAiModelClient } from './openai-model.client.js';
import { modelLimits } from './model.limits.js';

/** Asks the model, again where that may help, within the limits of the settings and the signal of the request. */
@Injectable()
export class ModelCallsService {
  constructor(
    private readonly client: OpenAiModelClient,
    private readonly env: Env,
    private readonly metrics: Metrics,
    private readonly quotas: QuotasService,
  ) {}

  get isConfigured(): boolean {
    return this.client.isConfigured;
  }

  /** @throws QuotaExceededError when the application or the caller has no tokens left */
  async demandTokens(payer: Payer): Promise<void> {
    await this.quotas.demand(payer, { MODEL_TOKENS: 1 });
  }

  /** Counts the tokens of an answer, beyond the one that was asked for first. @param tokens estimated where the model does not count */
  charge(payer: Payer, { inputTokens, outputTokens }: CallUsage, tokens: number): void {
    this.quotas.charge(payer, 'MODEL_TOKENS', tokens - 1);
    this.metrics.modelTokens.inc({ direction: 'input' }, inputTokens ?? 0);
    this.metrics.modelTokens.inc({ direction: 'output' }, outputTokens ?? 0);
  }

  /** @throws ModelCallError when the last try failed too, or the reason of the request's signal */
  async ask(request: ModelRequest): Promise<ModelTurn> {
    return withRetries(retryOf(request.signal), async (retries) => {
      if (retries > 0) {
        request.signal.throwIfAborted();
      }
      return this.once(request);
    });
  }

  /** A span as OpenTelemetry names them (Semantic Conventions, "Generative AI"); what is said is no part of it. */
  private once(request: ModelRequest): Promise<ModelTurn> {
    const model = this.env.get('LLM_MODEL') ?? '';
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model,
    };
    return inSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const traceparent = currentSpan()?.traceparent ?? request.traceparent;
      const turn = await this.timed({ ...request, traceparent });
      span?.setAttributes({
        'gen_ai.usage.input_tokens': turn.usage.inputTokens ?? undefined,
        'gen_ai.usage.output_tokens': turn.usage.outputTokens ?? undefined,
        'svc.agent.tool_calls': turn.calls.length,
      });
      return turn;
    });
  }

  private async timed(request: ModelRequest): Promise<ModelTurn> {
    const startedAt = performance.now();
    let outcome = 'cancelled';
    try {
      const turn = await this.client.ask(request);
      outcome = 'answered';
      return turn;
    } catch (error) {
      outcome = error instanceof ModelCallError ? labelOf(error) : outcome;
      throw error;
    } finally {
      this.metrics.modelCallDuration.observe({ outcome }, (performance.now() - startedAt) / 1_000);
    }
  }
}

function retryOf(signal: AbortSignal): RetryPolicy {
  const own = { baseMs: modelLimits.retryBaseMs, maxMs: modelLimits.retryMaxMs };
  return {
    retries: modelLimits.maxRetries,
    isRetryable: (error) => error instanceof ModelCallError && error.isRetryable,
    delayMs: (retry, error) =>
      Math.min((error as ModelCallError).retryAfterMs ?? backoff(retry, own, 1), modelLimits.retryMaxMs),
    signal,
  };
}

/** A bounded set: the statuses of HTTP by their first digit. */
function labelOf({ failure }: ModelCallError): string {
  return failure.toLowerCase().replace(/^(http_\d)\d+$/, '$1xx');
}
