import { meets, notMet, shown } from './expectation.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { startStubServer, type StubAnswer, type StubRequest, type StubServer } from './stub-server.js';

/** A tool that an MCP stub lists. */
export interface McpTool {
  description?: string;
  /** JSON Schema of the arguments; any object without it. */
  inputSchema?: JsonObject;
  /** What the tool answers: a text, or JSON that is sent as text, or what works it out. What it throws is an error of the tool. */
  answers: Json | ((given: Record<string, unknown>) => unknown);
}

/** A call of a tool that an MCP stub has got. */
export interface ToolCall {
  tool: string;
  arguments: Record<string, unknown>;
}

const PROTOCOL = '2025-11-25';
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

interface Message {
  id?: unknown;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown> };
}

/** Stands in for a system of type MCP: lists tools, answers their calls, and keeps these. */
export class McpStub {
  /** All calls of tools since the start, or since `forget`. */
  readonly calls: ToolCall[] = [];

  private constructor(
    private readonly server: StubServer,
    private readonly tools: ReadonlyMap<string, McpTool>,
  ) {}

  /** @param tools by their names */
  static async start(tools: Record<string, McpTool>): Promise<McpStub> {
    const known = new Map(Object.entries(tools));
    const stub: McpStub = new McpStub(await startStubServer((request) => stub.answer(request)), known);
    return stub;
  }

  /** What the `baseUrl` of the system becomes. */
  get url(): string {
    return `${this.server.url}/mcp`;
  }

  forget(): void {
    this.calls.length = 0;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** @throws AssertionError when the tool was not called with these arguments, whatever others it had beside them */
  wasCalled(tool: string, expected: Record<string, unknown> = {}): void {
    if (!this.calls.some((call) => call.tool === tool && meets(call.arguments, expected))) {
      throw notMet(`Expected a call of the tool ${tool} with ${shown(expected)}.`, this.told(tool, expected));
    }
  }

  /** @throws AssertionError when the tool was called */
  wasNotCalled(tool: string): void {
    if (this.calls.some((call) => call.tool === tool)) {
      throw notMet(`Expected no call of the tool ${tool}.`, this.told(tool, undefined));
    }
  }

  private told(tool: string, expected: unknown): Parameters<typeof notMet>[1] {
    const actual = this.calls.filter((call) => call.tool === tool).map((call) => call.arguments);
    const lines = this.calls.map((call) => `${call.tool} ${shown(call.arguments)}`);
    return { actual, expected, lines: lines.length === 0 ? ['No tool was called.'] : lines };
  }

  /** Streamable HTTP of MCP without a stream: each answer is JSON. */
  private async answer({ method, body }: StubRequest): Promise<StubAnswer> {
    if (method !== 'POST') {
      return { status: method === 'DELETE' ? 200 : 405 };
    }
    const message = JSON.parse(body) as Message;
    return message.id === undefined ? { status: 202 } : jsonOf(message.id, await this.outcome(message));
  }

  private async outcome({ method, params }: Message): Promise<object> {
    switch (method) {
      case 'initialize':
        return {
          result: {
            protocolVersion: PROTOCOL,
            capabilities: { tools: {} },
            serverInfo: { name: 'stub', version: '1' },
          },
        };
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return { result: { tools: [...this.tools].map(([name, tool]) => listed(name, tool)) } };
      case 'tools/call':
        return this.call(params?.name ?? '', params?.arguments ?? {});
      default:
        return { error: { code: METHOD_NOT_FOUND, message: `There is no ${method} here.` } };
    }
  }

  private async call(name: string, given: Record<string, unknown>): Promise<object> {
    const tool = this.tools.get(name);
    if (tool === undefined) {
      return { error: { code: INVALID_PARAMS, message: `There is no tool ${name}.` } };
    }
    this.calls.push({ tool: name, arguments: given });
    try {
      const { answers } = tool;
      return resultOf(typeof answers === 'function' ? await answers(given) : answers, false);
    } catch (error) {
      return resultOf(error instanceof Error ? error.message : String(error), true);
    }
  }
}

function listed(name: string, { description, inputSchema }: McpTool): object {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
  };
}

function resultOf(value: unknown, isError: boolean): object {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return { result: { content: [{ type: 'text', text }], isError } };
}

function jsonOf(id: unknown, outcome: object): StubAnswer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}
