import { readFile } from 'node:fs/promises';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplicationPackage, SvcClient } from '../../packages/client/src/index.js';
import { agentNode } from '../integration/builds/workflow-nodes.js';
import { startToolsPeer, type CountedTool, type ToolsPeer } from '../support/peers/official.peers.js';
import { packageDocument, mapping, workflowOf } from '../support/runtime/publish.js';
import { useConsole } from './support/console-world.js';
import { CALLS } from './support/conversation.js';
import { ALL, hostile, PAYLOADS, traces, type Hostility } from './support/hostile.js';
import { startLoan, startOwnLoan, stoppedLoan } from './support/loans.js';
import type { Tab } from './support/tab.js';

const ANSWERS = /\/(rtm|appmanager|api)\//;

/** Replaces all further responses of the service to a tab with hostile ones. */
async function turnHostile(tab: Tab, how: Hostility): Promise<void> {
  // Requests of a closed tab fail, which does not matter.
  await tab.page.route(ANSWERS, (route) => answer(route, how).catch(() => undefined));
}

async function answer(route: Route, how: Hostility): Promise<void> {
  const url = route.request().url();
  if (url.includes('/progress')) {
    // A stream never ends, and the page loads the same data without it.
    await route.abort();
    return;
  }
  const response = await route.fetch();
  const body: unknown = /\/calls\?/.test(url) ? { calls: CALLS, next: null } : await response.json();
  // Keeps the caller and their permissions.
  await route.fulfill({ response, json: url.endsWith('/me') ? body : hostile(body, how) });
}

/** Returns the visible text of the page, including fields. */
function shownText({ page }: Tab): Promise<string> {
  return page.evaluate<string>(
    "document.body.innerText + [...document.querySelectorAll('input, textarea, option')].map((each) => each.value + each.textContent).join(' ')",
  );
}

describe('hostile content', () => {
  const world = useConsole({ settings: { TOOL_CALLS: 'true' } });
  let places: string[] = [];
  let peer: ToolsPeer;
  /** Page of the system. */
  let stock: string;
  const tools: Record<string, CountedTool> = {
    echo: { description: ALL, run: (text) => `${text} ${ALL}` },
    count: { description: ALL, run: () => ALL },
  };

  /** Delivers a version with an agent and a system with tools. @returns resource id of the system */
  const deliver = async (svc: SvcClient, versionId: string): Promise<string> => {
    const path = { appId: 'shop', versionId };
    const payload = {
      name: 'Stock',
      type: 'MCP' as const,
      baseUrl: peer.url,
      description: PAYLOADS[1] ?? '',
    };
    const { data } = await svc.createSystem({
      path,
      body: {
        action: 'CREATE',
        resourceName: 'stock',
        payload: { ...payload, authorization: { type: 'NO_AUTH' } },
      },
    });
    const workflows = [
      workflowOf('advise', [agentNode({}, { mcpServers: [{ resourceName: 'stock' }] }) as never]),
      {
        ...workflowOf('flow', [mapping('a', versionId)]),
        description: `${versionId} ${PAYLOADS.slice(0, 9).join(' ')}`,
      },
    ];
    const body = packageDocument('shop', { package: { workflows } }) as unknown as ApplicationPackage;
    await svc.storePackage({ path, body });
    return data.resourceId;
  };

  beforeAll(async () => {
    await world().deliverSample();
    const svc = await world().client();
    const waiting = await startLoan(svc, ALL.slice(0, 250));
    const stopped = await stoppedLoan(svc, 'Ada Example');
    await svc.discoverPlatform();
    const path = { appId: 'sample' };
    const { data: versions } = await svc.listVersions({ path });
    const versionId = versions.versions[0]?.applicationVersionId ?? '';
    const { data: build } = await svc.getBuildInfo({ path });
    const { data: systems } = await svc.listSystems({ path: { ...path, versionId } });
    const { data: runs } = await svc.listWorkflowRuns({ query: { workflow: 'advise_client' } });
    const { data: scans } = await svc.listScans({});
    peer = await startToolsPeer(tools);
    stock = `/systems/shop/v3/${await deliver(svc, 'v3')}`;
    const builds: string[] = [];
    for (const version of ['v1', 'v2']) {
      await deliver(svc, version);
      await svc.commitVersion({ path: { appId: 'shop', versionId: version } });
      const { data } = await svc.createBuild({ path: { appId: 'shop', versionId: version } });
      builds.push(data.buildId);
    }
    await svc.activateBuild({ path: { appId: 'shop' }, body: { buildId: builds[0] ?? '' } });
    const system = `/systems/sample/${versionId}/${systems.systems[0]?.resourceId ?? ''}`;
    const version = `/applications/sample/versions/${versionId}`;
    places = [
      '/',
      `/systems?app=sample&version=${versionId}`,
      '/systems/register?app=sample&version=v9',
      system,
      '/applications',
      '/applications/sample',
      version,
      `${version}/workflows/advise_client`,
      `${version}/workflows/advise_client?node=adviser`,
      `/applications/sample/builds/${build.buildId}`,
      '/applications/shop/versions/v3',
      `/applications/shop/builds/${builds[1] ?? ''}`,
      '/instances',
      '/instances/incidents',
      `/instances/${stopped}`,
      `/instances/${waiting}`,
      '/tasks',
      '/tasks/start?app=sample&process=loan_onboarding',
      '/agent-runs',
      `/agent-runs/${runs.runs[0]?.id ?? ''}`,
      '/platform',
      `/platform?scan=${scans.scans[0]?.id ?? ''}`,
      '/platform/changes',
      '/platform/scans',
      '/audit?app=sample',
      '/about',
    ];
  });
  afterAll(() => peer.close());

  /** Opens all tabs and details of a page and checks each, without changing anything. */
  const lookAt = async (tab: Tab): Promise<{ found: string[]; isShown: boolean }> => {
    const found: string[] = [];
    let isShown = false;
    const parts = await tab.page.getByRole('tab').all();
    for (const part of [undefined, ...parts.slice(1)]) {
      await part?.click();
      await tab.settled();
      await tab.page.evaluate(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
      );
      found.push(...(await traces(tab.page)));
      isShown ||= (await shownText(tab)).includes('hostileRan');
    }
    return { found, isShown };
  };

  const walk = async (how: Hostility): Promise<{ found: string[]; silent: string[] }> => {
    const tab = await world().as('admin', '/about');
    const own = await startOwnLoan(tab, 'Own Example');
    await turnHostile(tab, how);
    const found: string[] = [];
    const silent: string[] = [];
    for (const place of [...places, `/tasks/${own}`]) {
      await tab.open(place);
      const looked = await lookAt(tab);
      found.push(...looked.found.map((trace) => `${place}: ${trace}`));
      if (!looked.isShown) {
        silent.push(place);
      }
    }
    return { found, silent };
  };

  it('is rendered as text on every page', async () => {
    const { found, silent } = await walk('texts');
    expect(found).toEqual([]);
    // These pages show only ids.
    expect(silent).toEqual(['/systems/register?app=sample&version=v9', '/applications', '/about']);
  });

  it('never becomes the target of a link', async () => {
    const { found } = await walk('addresses');
    expect(found).toEqual([]);
  });

  it('is rendered as text in reviews and in the results of tools and connection tests', async () => {
    const tab = await world().as('admin', '/about');
    await turnHostile(tab, 'texts');
    await tab.open(stock);
    const test = tab.page.getByRole('button', { name: 'Test connection' });
    await test.click();
    await tab.page.getByRole('switch').first().waitFor();
    expect(await lookAt(tab)).toEqual({ found: [], isShown: true });
    peer.tools = { ...tools, echo: { description: `other ${ALL}`, run: (text) => `said ${text} ${ALL}` } };
    await test.click();
    await tab.page.getByText('Off until reviewed', { exact: false }).waitFor();
    await tab.page.getByRole('tab', { name: 'Review' }).click();
    await tab.page.getByRole('button', { name: 'Allow' }).first().waitFor();
    expect(await lookAt(tab)).toEqual({ found: [], isShown: true });

    await tab.open(`${stock}?view=tools`);
    await tab.page
      .getByRole('button', { name: /^count / })
      .first()
      .click();
    await tab.page.getByText('Call this tool').click();
    const answered = tab.page.waitForResponse(/\/call$/);
    await tab.page.getByRole('button', { name: 'Call', exact: true }).click();
    await answered;
    await tab.settled();
    await tab.page.getByRole('dialog').getByText('hostileRan', { exact: false }).first().waitFor();
    expect(await traces(tab.page)).toEqual([]);
  });

  it('is rendered as text in dialogs and in exported files', async () => {
    const tab = await world().as('admin', '/about');
    await turnHostile(tab, 'texts');
    const look = async (): Promise<void> => {
      await tab.page.getByRole('dialog').waitFor();
      await tab.settled();
      expect(await traces(tab.page)).toEqual([]);
      await tab.page.keyboard.press('Escape');
      await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await tab.open(places.find((place) => /^\/instances\/[\da-f]{8}-/.test(place)) ?? '');
    await tab.page.getByRole('button', { name: 'Retry this' }).first().click();
    await look();
    await tab.page.getByRole('button', { name: 'Terminate' }).click();
    await look();

    await tab.open('/audit?app=sample');
    await tab.page.getByText('shown').first().waitFor();
    const [file] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.page.getByRole('button', { name: 'As CSV' }).click(),
    ]);
    const csv = await readFile(await file.path(), 'utf8');
    expect(csv).toContain(PAYLOADS[0]);
    expect(csv).not.toMatch(/(^|,|")[=+@-][^\d]/m);
  });

  it('is detected on a page that renders it as markup', async () => {
    const tab = await world().tab('/');
    await tab.page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(`<main>${ALL}</main>`)})`,
    );
    expect((await traces(tab.page)).length).toBeGreaterThan(5);
    await expect
      .poll(() => tab.problems.filter((text) => text.startsWith('policy')).length)
      .toBeGreaterThan(1);
    await tab.page.close();
    tab.problems.length = 0;
  });
});
