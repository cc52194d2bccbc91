import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Deadline } from '../../../../platform/concurrency/deadline.js';
import type { JsonValue } from '#engine/json';
import { Metrics } from '../../../../platform/observability/metrics/metrics.js';
import { Env } from '../../../../platform/config/env.js';
import { ToolCallsService } from '../../../../systems/mcp-connection/calls/tool-calls.service.js';
import { SystemConnectionsService } from '../../../../systems/lookups/system-connections.service.js';
import type { NodeContext, NodeExecutor, NodeOutcome } from '../../workflows/model/node-executor.js';
import type { RunnableNode } from '../../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../../workflows/model/workflows.errors.js';
import { agentLimits } from '../agent.limits.js';
import { agentOptionsOf, type AgentOptions, firstMessages } from './agent-prompt.js';
import { AgentRun } from './agent-run.js';
import { AgentTools, requireTools } from './agent-tools.js';
import { ModelCallsService } from '../llm/model-calls.service.js';
import type { ModelMessage } from '../llm/model-client.types.js';
import { SystemResolutionService } from '../resolution/system-resolution.service.js';
import { ToolSteps } from './tool-step.js';

const SPAN_BYTES = 8;

/** Executes nodes of type CUSTOM_AGENT (docs/agents.md): a ReAct loop with the enabled tools of their systems. */
@Injectable()
export class CustomAgentExecutor implements NodeExecutor {
  readonly type = 'CUSTOM_AGENT';
  readonly takesInput = true;

  constructor(
    private readonly env: Env,
    private readonly metrics: Metrics,
    private readonly model: ModelCallsService,
    private readonly resolution: SystemResolutionService,
    private readonly toolCalls: ToolCallsService,
    private readonly connections: SystemConnectionsService,
  ) {}

  async execute(node: RunnableNode, context: NodeContext): Promise<NodeOutcome> {
    const milliseconds = agentLimits.deadlineMs;
    const message = `The agent took longer than ${milliseconds} ms.`;
    const timeout = () => new WorkflowFailedError('AGENT_DEADLINE', message);
    const deadline = new Deadline(context.scope.signal, milliseconds, timeout);
    let outcome = 'INTERRUPTED';
    try {
      const result = await this.answer(node, context, deadline.signal);
      outcome = 'FINISHED';
      return { result, next: { kind: 'SEQUENCE' } };
    } catch (error) {
      outcome = error instanceof WorkflowFailedError ? error.code : outcome;
      throw error;
    } finally {
      deadline.clear();
      this.metrics.agentRuns.inc({ outcome });
    }
  }

  private async answer(node: RunnableNode, context: NodeContext, signal: AbortSignal): Promise<JsonValue> {
    if (!this.model.isConfigured) {
      const message = 'No language model is configured: set LLM_BASE_URL and LLM_MODEL.';
      throw new WorkflowFailedError('AGENT_NOT_CONFIGURED', message);
    }
    const options = agentOptionsOf(node);
    const messages = await this.messagesOf(node, options, context);
    const systems = await this.resolution.resolve(context.scope.buildId, options.mcpServers);
    const tools = new AgentTools(systems);
    requireTools(systems, tools);
    const { model, toolCalls, connections, resolution } = this;
    const maxImageBytes = this.env.get('AGENT_MAX_IMAGE_BYTES');
    const shared = { tools, maxImageBytes, signal, traceparent: traceparentOf(context.scope.runId) };
    const steps = new ToolSteps(
      { toolCalls, connections, resolution },
      {
        ...shared,
        calls: context.scope.calls,
        onOutcome: (outcome) => this.metrics.agentToolSteps.inc({ outcome }),
      },
    );
    const { scope, step } = context;
    const place = `${step}/${node.id}`;
    return new AgentRun({ ...shared, options, messages, steps, model, toolCalls, scope, place }).answer();
  }

  private async messagesOf(
    { inputBody }: RunnableNode,
    { operationPrompt, answerSchema }: AgentOptions,
    { input, texts }: NodeContext,
  ): Promise<ModelMessage[]> {
    // Without `inputBody` the model gets only data that the prompt refers to, because the model may be external.
    const given = inputBody === null || inputBody.trim() === '' ? undefined : input;
    const parts = { operationPrompt, answerSchema, input: given, read: texts.read };
    const { messages, bytes } = await firstMessages(parts);
    const maxBytes = agentLimits.inputBytes;
    if (bytes > maxBytes) {
      const message = `The prompt of the agent and its data have more than ${maxBytes} bytes.`;
      throw new WorkflowFailedError('NODE_INPUT_INVALID', message);
    }
    return messages;
  }
}

/** Returns a traceparent (W3C Trace Context) whose trace id is the run id, shared by all calls of a run. */
function traceparentOf(runId: string): string {
  return `00-${runId.replaceAll('-', '')}-${randomBytes(SPAN_BYTES).toString('hex')}-01`;
}
