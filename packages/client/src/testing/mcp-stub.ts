import { format, matches, mismatch } from './expectation.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { startStubServer, type StubAnswer, type StubRequest, type StubServer } from './stub-server.js';

/** Tool of an MCP stub. */
export interface McpTool {
  description?: string;
  /** JSON Schema of the arguments. Default: any object. */
  inputSchema?: JsonObject;
  /** Answer: text, JSON sent as text, or a function of the arguments. An error that it throws is a tool error. */
  answers: Json | ((given: Record<string, unknown>) => unknown);
}

/** Tool call received by an MCP stub. */
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

/** Stub of an MCP server that records tool calls. */
export class McpStub {
  /** All tool calls since the start or the last `forget`. */
  readonly calls: ToolCall[] = [];

  private constructor(
    private readonly server: StubServer,
    private readonly tools: ReadonlyMap<string, McpTool>,
  ) {}

  /** @param tools tools by name */
  static async start(tools: Record<string, McpTool>): Promise<McpStub> {
    const known = new Map(Object.entries(tools));
    const stub: McpStub = new McpStub(await startStubServer((request) => stub.answer(request)), known);
    return stub;
  }

  /** `baseUrl` of the system. */
  get url(): string {
    return `${this.server.url}/mcp`;
  }

  /** Clears the recorded calls. */
  forget(): void {
    this.calls.length = 0;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Asserts that the tool was called with at least these arguments. @throws AssertionError */
  wasCalled(tool: string, expected: Record<string, unknown> = {}): void {
    if (!this.calls.some((call) => call.tool === tool && matches(call.arguments, expected))) {
      throw mismatch(
        `Expected a call of the tool ${tool} with ${format(expected)}.`,
        this.comparison(tool, expected),
      );
    }
  }

  /** Asserts that the tool was not called. @throws AssertionError */
  wasNotCalled(tool: string): void {
    if (this.calls.some((call) => call.tool === tool)) {
      throw mismatch(`Expected no call of the tool ${tool}.`, this.comparison(tool, undefined));
    }
  }

  private comparison(tool: string, expected: unknown): Parameters<typeof mismatch>[1] {
    const actual = this.calls.filter((call) => call.tool === tool).map((call) => call.arguments);
    const lines = this.calls.map((call) => `${call.tool} ${format(call.arguments)}`);
    return { actual, expected, lines: lines.length === 0 ? ['No tool was called.'] : lines };
  }

  /** Answers a message of MCP's Streamable HTTP, always with JSON instead of a stream. */
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
        return { error: { code: METHOD_NOT_FOUND, message: `There is no method ${method}.` } };
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
