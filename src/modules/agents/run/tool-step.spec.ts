import { expect, it, vi } from 'vitest';
import type { ToolCallResult } from '../../mcp-connection/model/tool-call.types.js';
import { AgentTools } from './agent-tools.js';
import { ResolvedSystemState, ResolvedToolState } from '../resolution/resolution.types.js';
import { ToolSteps } from './tool-step.js';

const clientSecret = 'correct horse battery staple';
const names = { appId: 'app', resourceDefinitionId: 'd', resourceName: 'stock', name: 'Stock' };
const TOOLS = new AgentTools([
  {
    ...names,
    state: ResolvedSystemState.Ready,
    systemId: 's',
    baseUrl: 'https://stock.example.com/mcp',
    tools: [
      {
        toolId: 't',
        name: 'get',
        description: '',
        inputSchema: { type: 'object' },
        annotations: null,
        definitionHash: 'h',
        state: ResolvedToolState.Ready,
        isEnabledNow: true,
      },
    ],
  },
]);

it('hands credentials to the call, and keeps none in the journal', async () => {
  const answer: ToolCallResult = {
    outcome: 'answered',
    isError: false,
    text: 'You are known.',
    structured: null,
    bytes: 1,
    latencyMs: 1,
  };
  const callTool = vi.fn().mockResolvedValue(answer);
  const stored: unknown[] = [];
  const credentials = {
    type: 'SERVICE_ACCOUNT' as const,
    clientId: 'c',
    clientSecret,
    tokenUrl: 'https://sso.example.com/token',
  };
  const counted = vi.fn();
  const steps = new ToolSteps(
    {
      toolCalls: { callTool },
      connections: { byId: () => Promise.resolve({ baseUrl: 'https://stock.example.com/mcp', credentials }) },
      resolution: { stateNow: () => Promise.resolve(ResolvedToolState.Ready) },
    },
    {
      tools: TOOLS,
      calls: {
        once: async (call, make) => {
          const response = await make();
          stored.push(call, response);
          return response;
        },
      },
      signal: new AbortController().signal,
      traceparent: '',
      timeoutMs: 1_000,
      maxResultBytes: 1_000,
      counted,
    },
  );

  const { content } = await steps.take({ id: '1', name: 'stock__get', arguments: '{}' }, '1/a/m1.t1');

  expect(JSON.parse(content)).toEqual({ ok: true, result: 'You are known.' });
  expect(callTool).toHaveBeenCalledWith(expect.objectContaining({ systemId: 's', credentials }));
  expect(JSON.stringify(stored)).not.toContain(clientSecret);
  expect(counted.mock.calls).toEqual([['OK']]);
});

it('does not count a step that it reads from the journal', async () => {
  const counted = vi.fn();
  const steps = new ToolSteps(
    {
      toolCalls: { callTool: () => Promise.reject(new Error('called twice')) },
      connections: { byId: () => Promise.resolve(null) },
      resolution: { stateNow: () => Promise.resolve(ResolvedToolState.Ready) },
    },
    {
      tools: TOOLS,
      calls: { once: () => Promise.resolve({ outcome: 'OK', result: { ok: true } }) },
      signal: new AbortController().signal,
      traceparent: '',
      timeoutMs: 1_000,
      maxResultBytes: 1_000,
      counted,
    },
  );
  const { outcome } = await steps.take({ id: '1', name: 'stock__get', arguments: '{}' }, '1/a/m1.t1');
  expect(outcome).toBe('OK');
  expect(counted).not.toHaveBeenCalled();
});
