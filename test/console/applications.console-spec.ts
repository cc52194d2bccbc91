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
  /** @returns resource id of its system */
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

  it('leads from an application to a version, whose problems and preflight it tells', async () => {
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

  it('says that there is no such application, or version of it', async () => {
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

  it('commits, builds and activates, each after a question', async () => {
    const tab = await world().as('author');
    for (const versionId of ['v1', 'v2']) {
      await tab.open(`/applications/shop/versions/${versionId}`);
      await tab.page.getByRole('button', { name: 'Commit' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Commit' }).click();
      await tab.page.getByText('It is done, and there are remarks').waitFor();
      await tab.check(`version-remarks-${versionId}`, { schemes: ['light'] });
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await tab.page.getByRole('button', { name: 'Build' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Build' }).click();
      await tab.page.getByRole('button', { name: 'Open the build' }).click();
      await tab.page.getByRole('button', { name: 'Activate' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
      await tab.page.getByText('The build is active.').first().waitFor();
      await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await tab.open('/applications/shop');
    await tab.page.getByText('active', { exact: true }).waitFor();
    await tab.check('application');
  });

  it('says what a build would change: in the place of the active one, or of another', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const [newest, oldest] = data.builds;
    const tab = await world().as('author', `/applications/shop/builds/${newest?.buildId ?? ''}`);
    await tab.page.getByText('Nothing differs.').waitFor();
    await tab.page.getByLabel('Compared with').selectOption(oldest?.buildId ?? '');
    await tab.page.getByText('workflow', { exact: true }).first().waitFor();
    await tab.check('build');
  });

  it('is told in sentences that another build was activated meanwhile', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const [newest, oldest] = data.builds.map(({ buildId }) => buildId);
    const tab = await world().as('author', `/applications/shop/builds/${oldest ?? ''}`);
    await tab.page.getByRole('button', { name: 'Activate' }).click();
    await client.activateBuild({ path: { appId: 'shop' }, body: { buildId: oldest ?? '' } });
    await client.activateBuild({ path: { appId: 'shop' }, body: { buildId: newest ?? '' } });
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await tab.page.getByText('Somebody has changed it meanwhile').waitFor();
    await tab.check('build-conflict', { schemes: ['light'] });
  });

  it('withdraws a build after a question, and then neither activates it nor offers to', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const oldest = data.builds.at(-1)?.buildId ?? '';
    const tab = await world().as('author', `/applications/shop/builds/${oldest}`);
    await tab.page.getByRole('button', { name: 'Activate' }).waitFor();
    await tab.page.getByRole('button', { name: 'Withdraw' }).click();
    const dialog = tab.page.getByRole('dialog');
    // Who may not administer processes cannot choose what needs that.
    expect(await dialog.getByLabel('Running instances').locator('option').allTextContents()).toEqual([
      'continue',
    ]);
    await tab.check('build-withdraw', { schemes: ['light'] });
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await tab.page.locator('.page-head').getByText('withdrawn', { exact: true }).waitFor();
    for (const name of ['Activate', 'Withdraw', 'Stop instances']) {
      expect(await tab.page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await tab.page.getByText('What it would change').count()).toBe(0);
    await tab.open('/applications/shop');
    await tab.page.getByText('withdrawn', { exact: true }).waitFor();
  });

  it('stops the running instances of a withdrawn build for who may administer processes', async () => {
    const client = await world().client();
    const { data } = await client.listBuilds({ path: { appId: 'shop' } });
    const tab = await world().as('admin', `/applications/shop/builds/${data.builds.at(-1)?.buildId ?? ''}`);
    await tab.page.getByRole('button', { name: 'Stop instances' }).click();
    const dialog = tab.page.getByRole('dialog');
    const choices = dialog.getByLabel('Running instances');
    expect(await choices.locator('option').allTextContents()).toEqual(['are put on hold', 'are terminated']);
    await choices.selectOption('TERMINATE');
    await tab.check('build-stop-instances', { schemes: ['light'] });
    const sent = tab.page.waitForRequest(/\/withdraw$/);
    await dialog.getByRole('button', { name: 'Stop instances' }).click();
    expect((await sent).postDataJSON()).toEqual({ running: 'TERMINATE' });
    await tab.page.getByText('Its running instances are stopped in the background.').waitFor();
  });

  it('draws a workflow that is walked by keyboard, and changes a node where nobody else has', async () => {
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
    await tab.page.getByText('Something in it is not right').waitFor();
    await tab.check('workflow-refused', { schemes: ['light'] });
    await editor.fill(JSON.stringify({ ...(JSON.parse(text) as object), name: `A new name ${MARKUP}` }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('The node is stored.').waitFor();

    await tab.page.getByRole('button', { name: 'Edit' }).click();
    const { data, response } = await client.getWorkflowNode({ path });
    await client.updateWorkflowNode({
      path,
      headers: { 'If-Match': response.headers.get('etag') ?? '' },
      body: { ...data, name: 'Of somebody else' },
    });
    await editor.fill(JSON.stringify({ ...(JSON.parse(text) as object), name: 'Mine' }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('It cannot be done as things stand').waitFor();
    await tab.page.getByRole('button', { name: 'Read it again' }).click();
    await tab.page.getByRole('heading', { name: 'Node Of somebody else' }).waitFor();
  });

  it('adds a node on a sequence, and offers no change of a committed version', async () => {
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
    await tab.page.getByText('The node is deleted.').waitFor();

    await tab.open('/applications/shop/versions/v1/workflows/flow?node=a');
    await tab.page.getByRole('heading', { name: /^Node / }).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });

  it('shows the preflight as a matrix of agents and tools, with reasons', async () => {
    const path = { appId: 'shop', versionId: 'v5', systemResourceId: await deliver('v5', 'fifth') };
    const client = await world().client();
    await client.testStoredConnection({ path });
    const { data } = await client.getSystem({ path });
    const [first] = data.tools;
    const tool = { systemId: data.id, toolId: first?.id ?? '' };
    await client.switchTool({ path: { ...path, ...tool }, body: { enabled: false } });
    const tab = await world().as('admin', '/applications/shop/versions/v5');
    const matrix = tab.page.getByRole('region', { name: 'Agents by tools' });
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

  it('is not there for who may not deliver applications', async () => {
    const tab = await world().as('operator', '/applications/shop');
    await tab.page.getByRole('heading', { name: 'This area is not open to you' }).waitFor();
  });
});
