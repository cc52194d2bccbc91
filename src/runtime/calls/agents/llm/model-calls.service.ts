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

/** Calls the model with retries, quotas and metrics. */
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

  /** Checks the token quota. @throws QuotaExceededError when the application or the caller has no tokens left */
  async requireTokenQuota(payer: Payer): Promise<void> {
    await this.quotas.take(payer, { MODEL_TOKENS: 1 });
  }

  /** Charges the tokens of an answer, except the one charged by `requireTokenQuota`. @param tokens estimated if the model does not report them */
  charge(payer: Payer, { inputTokens, outputTokens }: CallUsage, tokens: number): void {
    this.quotas.charge(payer, 'MODEL_TOKENS', tokens - 1);
    this.metrics.modelTokens.inc({ direction: 'input' }, inputTokens ?? 0);
    this.metrics.modelTokens.inc({ direction: 'output' }, outputTokens ?? 0);
  }

  /** Calls the model. @throws ModelCallError when the last retry failed, or the reason of the request's signal */
  async ask(request: ModelRequest): Promise<ModelTurn> {
    return withRetries(retryOf(request.signal), async (retries) => {
      if (retries > 0) {
        request.signal.throwIfAborted();
      }
      return this.once(request);
    });
  }

  /** Makes one call in a span (OpenTelemetry Semantic Conventions, "Generative AI"), without the content of messages. */
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
    recover: (error) => error instanceof ModelCallError && error.isRetryable,
    delayMs: (retry, error) =>
      Math.min((error as ModelCallError).retryAfterMs ?? backoff(retry, own, 1), modelLimits.retryMaxMs),
    signal,
  };
}

/** Returns a metric label of bounded cardinality: HTTP statuses only by their first digit. */
function labelOf({ failure }: ModelCallError): string {
  return failure.toLowerCase().replace(/^(http_\d)\d+$/, '$1xx');
}
