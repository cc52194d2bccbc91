import { SpanKind } from '@opentelemetry/api';
import { currentSpan, inSpan } from '../../common/tracing/spans.js';
import type { RestAnswer } from './rest-answer.js';
import { RestFailure } from './rest-failure.js';
import type { RestRequest } from './rest-request.js';

/**
 * Makes a call of a REST system a span (OpenTelemetry Semantic Conventions, "HTTP client"), and lets the system go on with it. Path and
 * query hold data, so only the server is named.
 * @param call gets the request with the trace that it goes on with, where there are traces; a node that sets one of its own keeps it
 */
export function asRestSpan(
  request: RestRequest,
  call: (request: RestRequest) => Promise<RestAnswer>,
): Promise<RestAnswer> {
  const { method, url } = request;
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': Number(url.port) || undefined,
  };
  return inSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const traceparent = currentSpan()?.traceparent;
    const headers = traceparent === undefined ? request.headers : { traceparent, ...request.headers };
    try {
      const answer = await call({ ...request, headers });
      span?.setAttribute('http.response.status_code', answer.status);
      return answer;
    } catch (error) {
      if (error instanceof RestFailure) {
        span?.setAttributes({ 'http.response.status_code': error.status }).fail(error.outcome);
      }
      throw error;
    }
  });
}
