import { SMTPServer } from 'smtp-server';
import { freePort } from '../../../../../test/support/databases/process-resources.js';
import { OidcIssuer } from '../../../../../test/support/oidc-issuer.js';
import { startEverything, startModernPeer } from '../../../../../test/support/peers/official.peers.js';
import { type Peer, startHttpPeer, pages } from '../../../../../test/support/peers/peer.js';
import { curl, curlJson, type RealComponent } from './real-component.js';

/** A service with a Spring Actuator health endpoint, verified with curl. */
export async function httpService(key: string): Promise<RealComponent & { port: number }> {
  const peer = await startHttpPeer(
    pages({
      '/actuator/health': { body: { status: 'UP' } },
      '/actuator/info': { body: { build: { version: '4.1.0', name: key } } },
    }),
  );
  return {
    key,
    map: 'services',
    port: Number(new URL(peer.url).port),
    declared: { kind: 'http', endpoint: peer.url },
    truth: async () => {
      const info = await curlJson<{ build: { version: string } }>(`${peer.url}actuator/info`);
      return { version: info.build.version };
    },
    ...lifeOf(peer),
  };
}

/** A real OpenID Connect provider. */
export async function companySso(): Promise<RealComponent> {
  const issuer = await OidcIssuer.start([]);
  return {
    key: 'companySso',
    map: 'externalIntegrations',
    declared: { kind: 'oidc', name: 'Company sign-on', endpoint: issuer.url },
    truth: async () => {
      const document = await curlJson<{ issuer: string }>(`${issuer.url}/.well-known/openid-configuration`);
      return { name: document.issuer === issuer.url ? 'Company sign-on' : 'another issuer' };
    },
    stop: () => issuer.stop(),
    start: () => issuer.start(),
    end: () => issuer.stop(),
  };
}

/** A mail server, verified with a NOOP command through curl. */
export async function mailServer(): Promise<RealComponent> {
  const port = await freePort();
  let server: SMTPServer;
  const start = async (): Promise<void> => {
    server = new SMTPServer({ hideSTARTTLS: true, disabledCommands: ['AUTH'], closeTimeout: 500 });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  };
  const stop = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  await start();
  return {
    key: 'mail',
    map: 'externalIntegrations',
    declared: { kind: 'smtp', name: 'Mail', endpoint: `smtp://127.0.0.1:${port}` },
    truth: async () => {
      await curl('--request', 'NOOP', `smtp://127.0.0.1:${port}`);
      return { name: 'Mail' };
    },
    start,
    stop,
    end: stop,
  };
}

/** An MCP server of the current protocol, declared by the operator, which reports its own name. */
export async function operatorMcp(): Promise<RealComponent> {
  const peer = await startModernPeer([{ name: 'first' }]);
  return {
    key: 'tools',
    map: 'externalIntegrations',
    declared: { kind: 'mcp', endpoint: peer.url },
    truth: async () => ({ name: (await greet(peer.url)).name }),
    ...lifeOf(peer),
  };
}

/** The official MCP server `server-everything`, registered under the given name. */
export async function registeredMcp(name: string): Promise<RealComponent & { url: string }> {
  const port = await freePort();
  let peer = await startEverything('streamableHttp', port);
  return {
    key: `mcp-${name.replace('/', '-')}-`,
    map: 'externalIntegrations',
    url: peer.url,
    truth: async () => ((await greet(peer.url)).version === '2.0.0' ? { name } : {}),
    stop: () => peer.close(),
    start: async () => {
      peer = await startEverything('streamableHttp', port);
    },
    end: () => peer.close(),
  };
}

async function greet(url: string): Promise<{ name: string; version: string }> {
  const clientInfo = { name: 'curl', version: '8' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const text = await curl(
    '--header',
    'accept: application/json, text/event-stream',
    '--json',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    url,
  );
  const { result } = JSON.parse(/\{.*\}/s.exec(text)?.[0] ?? '') as {
    result: { serverInfo: { name: string; version: string } };
  };
  return result.serverInfo;
}

function lifeOf(peer: Peer): Pick<RealComponent, 'stop' | 'start' | 'end'> {
  return { stop: () => peer.close(), start: () => peer.reopen(), end: () => peer.close() };
}
