import { describe, expect, it, vi } from 'vitest';
import type { CheckedText } from '#engine/json-schema';
import {
  TOOL_CALL_FAILURES,
  type ToolCallFailureCause,
  type ToolCallResult,
} from '../../../../systems/mcp-connection/model/tool-call.types.js';
import { CallNotMadeError } from '../../workflows/model/workflows.errors.js';
import { AgentTools } from './agent-tools.js';
import { ResolvedSystemState, ResolvedToolState } from '../resolution/resolution.types.js';
import { ToolSteps } from './tool-step.js';

const clientSecret = 'correct horse battery staple';
const names = { appId: 'app', resourceDefinitionId: 'd', resourceName: 'stock' };
const TOOLS = new AgentTools([
  {
    ...names,
    state: ResolvedSystemState.Ready,
    systemId: 's',
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

const RATE_LIMITED = TOOL_CALL_FAILURES.rate_limited;

const checkArguments = (): Promise<CheckedText> => Promise.resolve({ value: {} });

it('passes credentials and timeout of the system to the call, and stores no credentials in the journal', async () => {
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
  const onOutcome = vi.fn();
  const steps = new ToolSteps(
    {
      toolCalls: { callTool, checkArguments },
      connections: {
        byId: () =>
          Promise.resolve({ baseUrl: 'https://stock.example.com/mcp', credentials, timeoutMs: 7_000 }),
      },
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
      maxImageBytes: 0,
      onOutcome,
    },
  );

  const { content } = await steps.take({ id: '1', name: 'stock__get', arguments: '{}' }, '1/a/m1.t1');

  expect(JSON.parse(content)).toEqual({ ok: true, result: 'You are known.' });
  expect(callTool).toHaveBeenCalledWith(
    expect.objectContaining({ systemId: 's', credentials, deadlineMs: 7_000 }),
  );
  expect(JSON.stringify(stored)).not.toContain(clientSecret);
  expect(onOutcome.mock.calls).toEqual([['OK']]);
});

it('does not count a step that it reads from the journal', async () => {
  const onOutcome = vi.fn();
  const steps = new ToolSteps(
    {
      toolCalls: { callTool: () => Promise.reject(new Error('called twice')), checkArguments },
      connections: { byId: () => Promise.resolve(null) },
      resolution: { stateNow: () => Promise.resolve(ResolvedToolState.Ready) },
    },
    {
      tools: TOOLS,
      calls: { once: () => Promise.resolve({ outcome: 'OK', result: { ok: true } }) },
      signal: new AbortController().signal,
      traceparent: '',
      maxImageBytes: 0,
      onOutcome,
    },
  );
  const { outcome } = await steps.take({ id: '1', name: 'stock__get', arguments: '{}' }, '1/a/m1.t1');
  expect(outcome).toBe('OK');
  expect(onOutcome).not.toHaveBeenCalled();
});

describe('arguments that cannot be checked', () => {
  const take = (cause: ToolCallFailureCause, stored: unknown[] = []) => {
    const steps = new ToolSteps(
      {
        toolCalls: {
          callTool: () => Promise.reject(new Error('called')),
          checkArguments: () => Promise.resolve({ outcome: 'failed', cause, sent: 'never', latencyMs: 0 }),
        },
        connections: { byId: () => Promise.resolve(null) },
        resolution: { stateNow: () => Promise.resolve(ResolvedToolState.Ready) },
      },
      {
        tools: TOOLS,
        calls: { once: async (call, make) => (stored.push(call), make()) },
        signal: new AbortController().signal,
        traceparent: '',
        maxImageBytes: 0,
        onOutcome: () => undefined,
      },
    );
    return steps.take({ id: '1', name: 'stock__get', arguments: '{"a":1}' }, '1/a/m1.t1');
  };

  it('prevent the call, and the model gets the reason', async () => {
    const stored: unknown[] = [];
    const { outcome, content } = await take('arguments_unchecked', stored);
    expect(outcome).toBe('ARGUMENTS_UNCHECKED');
    expect(JSON.parse(content)).toEqual({
      ok: false,
      error: 'Checking the arguments against the schema of the tool took too long. The tool was not called.',
    });
    expect(stored).toMatchObject([{ request: { tool: 'get', arguments: '{"a":1}' }, repeatable: true }]);
  });

  it('interrupt the run when the service stops', async () => {
    await expect(take('stopping')).rejects.toThrow(CallNotMadeError);
  });
});

it.each([
  [{ retryAfterMs: 39_001 }, { error: `${RATE_LIMITED} It asks to wait 40 s. The tool was not called.` }],
  [
    {},
    {
      error: 'The MCP server limits requests (HTTP 429); try again later. The tool was not called.',
    },
  ],
])('reports a rate limit of the server to the model: %o', async (failure, observation) => {
  const limited = { outcome: 'failed', cause: 'rate_limited', sent: 'never', latencyMs: 1 } as const;
  const credentials = { type: 'NO_AUTH' as const };
  const steps = new ToolSteps(
    {
      toolCalls: { callTool: () => Promise.resolve({ ...limited, ...failure }), checkArguments },
      connections: { byId: () => Promise.resolve({ baseUrl: 'https://stock.example.com/mcp', credentials }) },
      resolution: { stateNow: () => Promise.resolve(ResolvedToolState.Ready) },
    },
    {
      tools: TOOLS,
      calls: { once: (_call, make) => make() },
      signal: new AbortController().signal,
      traceparent: '',
      maxImageBytes: 0,
      onOutcome: () => undefined,
    },
  );
  const { outcome, content } = await steps.take(
    { id: '1', name: 'stock__get', arguments: '{}' },
    '1/a/m1.t1',
  );
  expect({ outcome, observation: JSON.parse(content) as unknown }).toEqual({
    outcome: 'RATE_LIMITED',
    observation: { ok: false, ...observation },
  });
});

describe('reads between the claim and the call', () => {
  const broken = (): Promise<never> => Promise.reject(new Error('the database is away'));
  const credentials = { type: 'NO_AUTH' as const };
  const connected = () => Promise.resolve({ baseUrl: 'https://stock.example.com/mcp', credentials });
  const ready = () => Promise.resolve(ResolvedToolState.Ready);

  it.each([
    ['the connection', broken, ready],
    [
      'the flag of a waiting call',
      connected,
      vi.fn().mockImplementationOnce(ready).mockImplementation(broken),
    ],
  ])('fail without a call: %s', async (_what, byId, stateNow) => {
    const steps = new ToolSteps(
      {
        toolCalls: {
          callTool: async ({ isStillAllowed }) => {
            await isStillAllowed?.();
            throw new Error('called');
          },
          checkArguments,
        },
        connections: { byId },
        resolution: { stateNow },
      },
      {
        tools: TOOLS,
        calls: { once: (_call, make) => make() },
        signal: new AbortController().signal,
        traceparent: '',
        maxImageBytes: 0,
        onOutcome: () => undefined,
      },
    );
    const taken = steps.take({ id: '1', name: 'stock__get', arguments: '{}' }, '1/a/m1.t1');
    await expect(taken).rejects.toThrow(CallNotMadeError);
    await expect(taken).rejects.toMatchObject({ cause: { message: 'the database is away' } });
  });
});
