import type { SvcClient } from '../../../packages/client/src/index.js';
import { packageDocument } from '../../support/runtime/publish.js';
import type { Tab } from './tab.js';

/** Starts an instance of the sample process. @returns its UUID */
export async function startLoan(svc: SvcClient, name: string): Promise<string> {
  const { data: build } = await svc.getBuildInfo({ path: { appId: 'sample' } });
  const { data } = await svc.startProcess({
    path: { appId: 'sample', buildId: build.buildId, processDefinitionName: 'loan_onboarding' },
    headers: { 'svc-platform': 'web' },
    body: { client: { name } },
  });
  return data.uuid;
}

/** Starts an instance as the user of a tab, which then shows the first task. */
export async function startOwnLoan(tab: Tab, name: string): Promise<string> {
  await tab.open('/tasks/start?app=sample&process=loan_onboarding');
  await tab.page.getByLabel('name').fill(name);
  await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
  await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
  return tab.page.url().split('/').at(-1) ?? '';
}

/** Submits a loan application. With advice, the instance stops at an incident, because the tests have no model. */
export async function applyFor(svc: SvcClient, uuid: string, advice = false): Promise<void> {
  const { data } = await svc.getProcessInstance({ path: { uuid } });
  const token = data.tokens.find(({ uiActions }) => uiActions.length > 0);
  await svc.executeUiAction({
    path: {
      processUuid: uuid,
      tokenUuid: token?.uuid ?? '',
      uiActionSvcUuid: token?.uiActions[0]?.svcUuid ?? '',
    },
    body: { application: { amount: 20_000, months: 48, income: 5_200, advice } },
  });
}

/** Polls until a condition holds. */
export async function until<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) {
      return answer;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}

/** Starts an instance that stops at its agent. @returns its UUID */
export async function stoppedLoan(svc: SvcClient, name: string): Promise<string> {
  const uuid = await startLoan(svc, name);
  await applyFor(svc, uuid, true);
  await until(
    async () => (await svc.getProcessInstance({ path: { uuid } })).data.incidents,
    (incidents) => incidents.length > 0,
  );
  return uuid;
}

/** Delivers and activates an application with one process. @returns the build id */
export async function deliverProcess(svc: SvcClient, appId: string, bpmn: string): Promise<string> {
  const path = { appId, versionId: 'v1' };
  await svc.storePackage({ path, body: packageDocument(appId, { bpmn }) as never });
  await svc.commitVersion({ path });
  const { buildId } = (await svc.createBuild({ path })).data;
  await svc.activateBuild({ path: { appId }, body: { buildId } });
  return buildId;
}
