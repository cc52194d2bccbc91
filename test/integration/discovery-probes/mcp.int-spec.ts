import { afterAll, describe, expect, it } from 'vitest';
import type { Component } from '../../../src/discovery/model/component.types.js';
import * as probing from '../../support/discovery/run-probe.js';
import { connectionService, stopServices } from '../../support/peers/mcp-services.js';
import { startEverything, startModernPeer } from '../../support/peers/official.peers.js';
import { noSocketsLeft } from '../../support/peers/peer.js';
import { startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const { component } = probing;
const run = { probes: probing.probesWith(connectionService()) };
const runProbe = (target: Component) => probing.runProbe(target, run);
const failureOf = (target: Component) => probing.failureOf(target, run);
const keep = keptPeers();
afterAll(stopServices);

describe.each(['operator', 'registered'] as const)('the probe of an MCP server named by %s', (trust) => {
  it('finds a modern server, then nothing, then the server again', async () => {
    const peer = await keep(startModernPeer([{ name: 'first' }]));
    const target = component('mcp', peer.url, { trust });
    const found = { name: 'modern-peer', version: '1.2.3', capabilities: ['tools'], warnings: [] };
    expect(await runProbe(target)).toEqual(found);
    expect([...peer.calls.keys()]).not.toContain('tools/list');
    await noSocketsLeft(peer);
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
    await peer.reopen();
    expect(await runProbe(target)).toEqual(found);
  });

  it('finds the official Everything server, and reports when it is gone', async () => {
    const peer = await keep(startEverything('streamableHttp'));
    const target = component('mcp', peer.url, { trust });
    const capabilities = ['completions', 'logging', 'prompts', 'resources', 'tasks', 'tools'];
    expect(await runProbe(target)).toEqual({
      name: 'Everything Reference Server',
      version: '2.0.0',
      capabilities,
      warnings: [],
    });
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
  });

  it('finds the official server over the older HTTP+SSE transport', async () => {
    const peer = await keep(startEverything('sse'));
    const target = component('mcp', peer.url, { trust });
    // A direct probe does not wait for the answer, which arrives on a separate stream.
    const more = trust === 'registered' ? { version: '2.0.0' } : { warnings: [] };
    expect(await runProbe(target)).toMatchObject(more);
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
  });

  it('closes the session it opened, and lists no tools', async () => {
    const peer = await keep(startScriptedMcp({ list: ({ response }) => response.writeHead(500).end() }));
    expect(await runProbe(component('mcp', peer.url, { trust }))).toEqual({
      name: 'scripted',
      version: '1',
      capabilities: ['tools'],
      warnings: [],
    });
    expect(peer.seen).not.toContain('tools/list');
    expect(peer.seen.at(-1)).toBe('DELETE');
    await noSocketsLeft(peer);
  });

  it('recognises a healthy server that requires a token', async () => {
    const peer = await keep(startModernPeer([], (token) => token === 'right'));
    const target = component('mcp', peer.url, { trust });
    expect(await failureOf(target)).toBe('auth');
    const options = { authorizationRequired: true };
    expect(await runProbe({ ...target, options })).toEqual({ warnings: [] });
    await peer.close();
    expect(await failureOf({ ...target, options })).toBe('refused');
  });
});

it('the probe of an MCP server of the operator sends its token, query and headers', async () => {
  const peer = await keep(startModernPeer([], (token) => token === 'right'));
  const target = component('mcp', peer.url, { credentials: { token: 'right' } });
  expect(await runProbe(target)).toMatchObject({ name: 'modern-peer' });
  const wrong = { ...target, credentials: { token: 'wrong' } };
  expect(await failureOf(wrong)).toBe('auth');
});
