import { SpanKind } from '@opentelemetry/api';
import { currentSpan, inSpan } from '../../../common/tracing/spans.js';
import type { ToolCallRequest, ToolCallResult } from '../model/tool-call.types.js';

/**
 * Makes a call of a tool a span (OpenTelemetry Semantic Conventions, "Model Context Protocol"), and lets the server go on with it. Neither
 * arguments nor results are a part of it.
 * @param call gets the request with the trace that it goes on with, where there are traces
 */
export function asToolSpan(
  request: ToolCallRequest,
  call: (request: ToolCallRequest) => Promise<ToolCallResult>,
): Promise<ToolCallResult> {
  const { name } = request.tool;
  const attributes = {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'svc.system.id': request.systemId,
  };
  return inSpan(`tools/call ${name}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const traceparent = currentSpan()?.traceparent;
    const result = await call(traceparent === undefined ? request : { ...request, traceparent });
    if (result.outcome === 'failed') {
      span?.fail(result.cause);
    } else if (result.isError) {
      span?.fail('tool_error');
    }
    return result;
  });
}
