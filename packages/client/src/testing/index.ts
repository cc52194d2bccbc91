export { type DeliverOptions, type TestApplication } from './application.js';
export { type TestInstance } from './instance.js';
export { type McpStub, type McpTool, type ToolCall } from './mcp-stub.js';
export { type ModelRule } from './service-process.js';
export { type RestCall, type RestRoute, type RestStub } from './rest-stub.js';
export { startTestService, type TestService, type TestServiceOptions } from './test-service.js';
