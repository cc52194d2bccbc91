import type { RunningInstances } from '../../clients/typescript/src/index.js';
import type { Session } from './session.js';

/** What can become of running instances, as it is typed. */
export const RUNNING = ['continue', 'hold', 'terminate'] as const;

/** Withdraws a build: nothing of it is started any more. */
export async function withdraw(
  session: Session,
  appId: string,
  buildId: string,
  { running }: { running: (typeof RUNNING)[number] },
): Promise<number> {
  const svc = await session.service();
  const body = { running: running.toUpperCase() as RunningInstances };
  const { data } = await svc.withdrawBuild({ path: { appId, buildId }, body });
  session.show(data, () => [
    `${buildId} is withdrawn; running instances: ${running}`,
    ...(data.wasActive ? [`${appId} has no active build now`] : []),
  ]);
  return 0;
}
