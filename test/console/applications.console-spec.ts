import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplicationPackage } from '../../packages/client/src/index.js';
import { startToolsPeer, type ToolsPeer } from '../support/peers/official.peers.js';
import { packageDocument, mapping, workflowOf } from '../support/runtime/publish.js';
import { agentNode } from '../integration/builds/workflow-nodes.js';
import { useConsole } from './support/console-world.js';

const MARKUP = '<img src=x onerror="document.title=\'XSS\'">';

describe('Applications and builds', () => {
  const world = useConsole();
  let peer: ToolsPeer;
  /** Delivers a version with a system and workflows. @returns resource id of the system */
  const deliver = async (versionId: string, text: string): Promise<string> => {
    const client = await world().client();
    const workflows = [
      { ...workflowOf('advise', [agentNode({}, { mcpServers: [{ resourceName: 'stock' }] }) as never]) },
      { ...workflowOf('flow', [mapping('a', 1)]), description: `${text} ${MARKUP}` },
    ];
    const body = packageDocument('shop', { package: { workflows } }) as unknown as ApplicationPackage;
    const path = { appId: 'shop', versionId };
    const { data } = await client.createSystem({
      path,
      body: {
        action: 'CREATE',
        resourceName: 'stock',
        payload: {
          name: 'Stock',
          type: 'MCP',
          baseUrl: peer.url,
          authorization: { type: 'NO_AUTH' },
        },
      },
    });
    await client.storePackage({ path, body });
    return data.resourceId;
  };
  beforeAll(async () => {
    const run = (text: string): string => text;
    peer = await startToolsPeer({ echo: { run }, count: { run }, order: { run } });
    await deliver('v1', 'first');
    await deliver('v2', 'second');
  });
  afterAll(() => peer.close());

  it('shows the problems and the preflight of a version', async () => {
    const tab = await world().as('author', '/applications');
    await tab.page.getByRole('link', { name: 'shop' }).waitFor();
    await tab.check('applications');
    await tab.page.getByRole('link', { name: 'shop' }).click();
    await tab.page.getByRole('link', { name: 'v1' }).click();
    await tab.page.getByText('AGENT_SYSTEM_NEVER_TESTED').waitFor();
    await tab.page.getByText('not ready').first().waitFor();
    await tab.check('version');
    expect(await tab.page.title()).not.toBe('XSS');
  });

  it('reports an unknown application and an unknown version', async () => {
    const tab = await world().as('admin', '/applications/nowhere');
    await tab.page.getByText('There is no application nowhere.').waitFor();
    expect(await tab.page.getByRole('table').count()).toBe(0);
    await tab.open('/applications/shop/versions/none');
    await tab.page.getByText('There is no version none of shop.').waitFor();
    expect(await tab.page.getByRole('table').count()).toBe(0);
    await tab.check('no-such-version', { schemes: ['light'] });
    for (const path of ['/systems?app=nowhere&version=v1', '/tasks/start?app=nowhere']) {
      await tab.open(path);
      await tab.page.getByLabel('Application').getByText('nowhere (unknown)').waitFor({ state: 'attached' });
    }
  });

  it('commits, builds and activates after confirmation', async () => {
    const tab = await world().as('author');
    for (const versionId of ['v1', 'v2']) {
      await tab.open(`/applications/shop/versions/${versionId}`);
      await tab.page.getByRole('button', { name: 'Commit' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Commit' }).click();
      await tab.page.getByText('Done, with warnings').waitFor();
      await tab.check(`version-remarks-${versionId}`, { schemes: ['light'] });
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await tab.page.getByRole('button', { name: 'Build' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Build' }).click();
      await tab.page.getByRole('button', { name: 'Open the build' }).click();
      await tab.page.getByRole('button', { name: 'Activate' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
      await tab.page.getByText('Build activated.').first().waitFor();
      await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await tab.open('/applications/shop');
    await tab.page.getByText('active', { exact: true }).waitFor();
    await tab.check('application');
  });

  it('compares a build with the active build and with another one', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const [newest, oldest] = data.builds;
    const tab = await world().as('author', `/applications/shop/builds/${newest?.buildId ?? ''}`);
    await tab.page.getByText('No differences.').waitFor();
    await tab.page.getByLabel('Compared with').selectOption(oldest?.buildId ?? '');
    await tab.page.getByText('workflow', { exact: true }).first().waitFor();
    await tab.check('build');
  });

  it('reports that another build was activated in the meantime', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const [newest, oldest] = data.builds.map(({ buildId }) => buildId);
    const tab = await world().as('author', `/applications/shop/builds/${oldest ?? ''}`);
    await tab.page.getByRole('button', { name: 'Activate' }).click();
    await client.activateBuild({ path: { appId: 'shop' }, body: { buildId: oldest ?? '' } });
    await client.activateBuild({ path: { appId: 'shop' }, body: { buildId: newest ?? '' } });
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await tab.page.getByText('Someone else has changed it').waitFor();
    await tab.check('build-conflict', { schemes: ['light'] });
  });

  it('withdraws a build after confirmation and no longer offers to activate it', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const oldest = data.builds.at(-1)?.buildId ?? '';
    const tab = await world().as('author', `/applications/shop/builds/${oldest}`);
    await tab.page.getByRole('button', { name: 'Activate' }).waitFor();
    await tab.page.getByRole('button', { name: 'Withdraw' }).click();
    const dialog = tab.page.getByRole('dialog');
    // The other choices require process-administration.
    expect(await dialog.getByLabel('Running instances').locator('option').allTextContents()).toEqual([
      'continue',
    ]);
    await tab.check('build-withdraw', { schemes: ['light'] });
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await tab.page.locator('.page-head').getByText('withdrawn', { exact: true }).waitFor();
    for (const name of ['Activate', 'Withdraw', 'Stop instances']) {
      expect(await tab.page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await tab.page.getByText('Differences').count()).toBe(0);
    await tab.open('/applications/shop');
    await tab.page.getByText('withdrawn', { exact: true }).waitFor();
  });

  it('stops the running instances of a withdrawn build for users who may administer processes', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const tab = await world().as('admin', `/applications/shop/builds/${data.builds.at(-1)?.buildId ?? ''}`);
    await tab.page.getByRole('button', { name: 'Stop instances' }).click();
    const dialog = tab.page.getByRole('dialog');
    const choices = dialog.getByLabel('Running instances');
    expect(await choices.locator('option').allTextContents()).toEqual(['put on hold', 'terminate']);
    await choices.selectOption('TERMINATE');
    await tab.check('build-stop-instances', { schemes: ['light'] });
    const sent = tab.page.waitForRequest(/\/withdraw$/);
    await dialog.getByRole('button', { name: 'Stop instances' }).click();
    expect((await sent).postDataJSON()).toEqual({ running: 'TERMINATE' });
    await tab.page.getByText('Running instances are being stopped in the background.').waitFor();
  });

  it('draws a workflow for use by keyboard and changes a node unless someone else did', async () => {
    await deliver('v3', 'third');
    const client = await world().client();
    const path = { appId: 'shop', versionId: 'v3', workflowName: 'flow', nodeId: 'a' };
    const tab = await world().as('author', '/applications/shop/versions/v3/workflows/flow');
    const node = tab.page.getByRole('region', { name: 'Graph of flow' }).getByRole('button').nth(1);
    await node.focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('button', { name: 'Edit' }).waitFor();
    await tab.check('workflow');
    expect(await tab.page.title()).not.toBe('XSS');

    await tab.page.getByRole('button', { name: 'Edit' }).click();
    const editor = tab.page.getByLabel('The node as JSON');
    const text = await editor.inputValue();
    await editor.fill('{');
    await tab.page.getByText('This must be a JSON object.').waitFor();
    await editor.fill(JSON.stringify({ ...(JSON.parse(text) as object), inputBody: '${' }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('The input is invalid').waitFor();
    await tab.check('workflow-refused', { schemes: ['light'] });
    await editor.fill(JSON.stringify({ ...(JSON.parse(text) as object), name: `A new name ${MARKUP}` }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Node saved.').waitFor();

    await tab.page.getByRole('button', { name: 'Edit' }).click();
    const { data, response } = await client.getWorkflowNode({ path });
    await client.updateWorkflowNode({
      path,
      headers: { 'If-Match': response.headers.get('etag') ?? '' },
      body: { ...data, name: 'By someone else' },
    });
    await editor.fill(JSON.stringify({ ...(JSON.parse(text) as object), name: 'Mine' }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Not possible in the current state').waitFor();
    await tab.page.getByRole('button', { name: 'Refresh' }).click();
    await tab.page.getByRole('heading', { name: 'Node By someone else' }).waitFor();
  });

  it('inserts a node into a sequence and makes committed versions read-only', async () => {
    await deliver('v4', 'fourth');
    const tab = await world().as('author', '/applications/shop/versions/v4/workflows/flow');
    await tab.page.getByRole('button', { name: 'Add a node' }).click();
    const editor = tab.page.getByLabel('The node as JSON');
    const node = { type: 'DATA_MAPPING', name: 'Between', inputBody: '{ "a": 1 }', responseKey: 'between' };
    await editor.fill(JSON.stringify(node));
    await tab.check('workflow-add-node', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByRole('heading', { name: 'Node Between' }).waitFor();
    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByText('Node deleted.').waitFor();

    await tab.open('/applications/shop/versions/v1/workflows/flow?node=a');
    await tab.page.getByRole('heading', { name: /^Node / }).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });

  it('shows the preflight as a matrix of tools and agents with reasons', async () => {
    const path = { appId: 'shop', versionId: 'v5', systemResourceId: await deliver('v5', 'fifth') };
    const client = await world().client();
    await client.testStoredConnection({ path });
    const { data } = await client.getSystem({ path });
    const [first] = data.tools;
    const tool = { systemId: data.id, toolId: first?.id ?? '' };
    await client.switchTool({ path: { ...path, ...tool }, body: { enabled: false } });
    const tab = await world().as('admin', '/applications/shop/versions/v5');
    const matrix = tab.page.getByRole('region', { name: 'Tools by agent' });
    await matrix.getByText('off', { exact: true }).click();
    await matrix.getByText('disabled').waitFor();
    await tab.check('version-preflight');
    await tab.page.getByRole('link', { name: 'Systems and tools' }).last().click();
    await tab.page.getByRole('link', { name: 'Stock' }).click();
    await tab.page.getByRole('tab', { name: 'Uses' }).click();
    await tab.page.getByText('2 of 3 tools').waitFor();
    await tab.check('system-uses', { schemes: ['light'] });
    await tab.page.getByRole('link', { name: 'advise' }).last().click();
    await tab.page.getByRole('heading', { name: 'Node Ask' }).waitFor();

    const { data: old } = await client.listSystems({ path: { appId: 'shop', versionId: 'v1' } });
    await tab.open(`/systems/shop/v1/${old.systems[0]?.resourceId ?? ''}`);
    await tab.page.getByRole('button', { name: 'Delete' }).waitFor({ state: 'detached' });
    expect(await tab.page.getByRole('button', { name: 'Change', exact: true }).count()).toBe(0);
  });

  it('is not available without application-delivery', async () => {
    const tab = await world().as('operator', '/applications/shop');
    await tab.page.getByRole('heading', { name: 'You have no access to this area' }).waitFor();
  });
});
