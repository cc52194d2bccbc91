import type { RequestListener } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  connectionService,
  noAuth,
  serviceAccount,
  stopServices,
} from '../../../../test/support/peers/mcp-services.js';
import type { McpConnectionService } from '../../../../src/systems/mcp-connection/mcp-connection.service.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';
import * as hostile from '../../../../test/support/peers/pathologies.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';
import { noSocketsLeft, startHttpPeer } from '../../../../test/support/peers/peer.js';
import { startListPathology, startToolListPeer } from '../../../../test/support/peers/scripted-mcp.peer.js';

const DEADLINE_MS = 1_000;
const MEGABYTE = 1_048_576;
const MAX_GROWTH = 50 * MEGABYTE;
const METADATA = 'http://169.254.169.254/latest/meta-data/';

/** Pathologies, with the cause reported when the MCP server has it, and when the token endpoint has it. */
const PATHOLOGIES: [string, RequestListener, string, string][] = [
  ['announces a gigabyte', hostile.hugeAnswer(true), 'too_large', 'token_too_large'],
  ['sends a gigabyte', hostile.hugeAnswer(false), 'too_large', 'token_too_large'],
  ['is as dense as JSON can be', hostile.denseJson, 'too_large', 'token_too_large'],
  ['sends a gzip bomb', hostile.gzipBomb, 'encoding', 'token_encoding'],
  ['drips its body', hostile.dripBody, 'timeout', 'token_timeout'],
  ['drips its headers', hostile.dripHeaders, 'timeout', 'token_timeout'],
  ['never answers', hostile.neverAnswers, 'timeout', 'token_timeout'],
  ['redirects to the metadata service', hostile.redirectsTo(METADATA), 'redirect', 'token_redirect'],
  ['redirects endlessly', hostile.redirectsForEver, 'redirect', 'token_redirect'],
  ['sends only comments', hostile.commentsOnly, 'timeout', 'token_timeout'],
  ['sends one huge event', hostile.hugeEvent, 'too_large', 'token_too_large'],
  ['ends the stream', hostile.endsStream, 'network', 'token_invalid'],
  ['resets the connection', hostile.resets, 'network', 'token_network'],
  ['is a web page', hostile.webPage, 'not_mcp', 'token_invalid'],
  ['sends unrelated JSON', hostile.unrelatedJson, 'not_mcp', 'token_invalid'],
  ['sends broken JSON', hostile.brokenJson, 'not_mcp', 'token_invalid'],
  ['fails loudly', hostile.failsLoudly, 'http_error', 'token_error'],
];

describe('Hostile parties', () => {
  const service = connectionService();
  /** For peers whose test is ended only by the deadline. */
  const hasty = connectionService({ 'mcpLimits.testTimeoutMs': String(DEADLINE_MS) });
  const endedBy = (cause: string): McpConnectionService => (cause.endsWith('timeout') ? hasty : service);
  let rss = 0;
  beforeAll(async () => {
    const peer = await startToolListPeer([]);
    await Promise.all([service, hasty].map((each) => each.test(noAuth(peer.url))));
    await peer.close();
    await new Promise((resolve) => setTimeout(resolve, 500));
    rss = process.memoryUsage.rss();
  });
  afterAll(stopServices);

  const keep = keptPeers();
  const growthDuring = async <T>(work: Promise<T>): Promise<{ result: T; growth: number }> => {
    let peak = 0;
    rss = process.memoryUsage.rss();
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
    const result = await work;
    clearInterval(timer);
    return { result, growth: Math.max(peak, process.memoryUsage.rss()) - rss };
  };

  it.each(PATHOLOGIES)('an MCP server that %s', async (_name, listener, cause) => {
    const peer = await keep(startHttpPeer(listener));
    const { result, growth } = await growthDuring(endedBy(cause).test(noAuth(peer.url)));
    expect(result).toEqual({ outcome: 'unreachable', cause, latencyMs: expect.any(Number) });
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
    expect(growth).toBeLessThan(MAX_GROWTH);
    await noSocketsLeft(peer);
  });

  it.each(PATHOLOGIES)('an MCP server whose tool list %s', async (_name, listener, cause) => {
    const peer = await keep(startListPathology(listener));
    const { result, growth } = await growthDuring(endedBy(cause).test(noAuth(peer.url)));
    expect(result.outcome).toBe('unreachable');
    expect(['not_mcp', 'invalid_tool_list', 'timeout', cause]).toContain('cause' in result && result.cause);
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
    expect(growth).toBeLessThan(MAX_GROWTH);
    await noSocketsLeft(peer);
  });

  it.each(PATHOLOGIES)('a token endpoint that %s', async (_name, listener, _cause, cause) => {
    const token = await keep(startHttpPeer(listener));
    const mcp = await keep(startHttpPeer(hostile.unauthorized));
    const { result, growth } = await growthDuring(endedBy(cause).test(serviceAccount(mcp.url, token.url)));
    expect(result).toEqual({ outcome: 'unreachable', cause, latencyMs: expect.any(Number) });
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
    expect(growth).toBeLessThan(MAX_GROWTH);
    await noSocketsLeft(token, mcp);
  });

  it('an MCP server that nests 200,000 levels', async () => {
    const answers = await keep(startHttpPeer(hostile.deepJson));
    await expect(hasty.test(noAuth(answers.url))).resolves.toMatchObject({ cause: 'too_large' });
    const lists = await keep(startListPathology(hostile.deepJson));
    await expect(service.test(noAuth(lists.url))).resolves.toMatchObject({
      outcome: 'connected',
      tools: [],
      rejectedTools: [{ reason: 'not_an_object' }],
    });
  });

  it.each([
    ['TLS', hostile.startTlsGarbage, 'tls'],
    ['HTTP', hostile.startHttpGarbage, 'protocol'],
  ])('a server that speaks garbage instead of %s', async (_name, start, cause) => {
    const peer = await keep(start());
    const mcp = await keep(startHttpPeer(hostile.unauthorized));
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'unreachable', cause });
    await expect(service.test(serviceAccount(mcp.url, peer.url))).resolves.toMatchObject({
      cause: `token_${cause}`,
    });
  });

  it.each([
    ['http://127.0.0.1:49151/mcp', 'refused'],
    ['http://name.invalid/mcp', 'dns'],
    [METADATA, 'blocked'],
    ['http://[::ffff:169.254.169.254]/', 'blocked'],
    ['http://2852039166/', 'blocked'],
    ['http://10.0.0.1/', 'blocked'],
    ['http://metadata.google.internal/', 'blocked'],
  ])('%s is %s', async (url, cause) => {
    await expect(service.test(noAuth(url))).resolves.toMatchObject({ outcome: 'unreachable', cause });
  });
});
