import type { BuildDifference, BuildDifferencesResponse, RunningInstances } from '../../index.js';
import type { Session } from '../session.js';
import { table } from '../lines.js';

/** What the activation of a build would change; or what it has otherwise than another build. */
export async function differencesOf(
  session: Session,
  path: { appId: string; buildId: string },
  baseBuildId?: string,
): Promise<BuildDifferencesResponse> {
  const svc = await session.service();
  return (await svc.compareBuild({ path, query: baseBuildId === undefined ? {} : { baseBuildId } })).data;
}

/** Shows what a build has otherwise than the active one, or than another. */
export async function differences(
  session: Session,
  appId: string,
  buildId: string,
  { base }: { base?: string },
): Promise<number> {
  const found = await differencesOf(session, { appId, buildId }, base);
  session.show(found, () => differenceLines(found, appId));
  return 0;
}

/** The same for people; one line where nothing is other. */
export function differenceLines(
  { activeBuildId, baseBuildId, differences: found }: BuildDifferencesResponse,
  ownAppId: string,
): string[] {
  if (activeBuildId === null && baseBuildId === undefined) {
    return [`no build is active: all is new (${found.length} parts)`];
  }
  const base = baseBuildId === undefined ? 'the active build' : 'the build';
  if (found.length === 0) {
    return [`nothing is other than in ${base}${baseBuildId === undefined ? '' : ` ${baseBuildId}`}`];
  }
  return [
    `other than in ${base} ${baseBuildId ?? activeBuildId}:`,
    ...table(found, {
      CHANGE: ({ change }) => change.toLowerCase(),
      PART: ({ part }) => part.toLowerCase(),
      NAME: 'name',
      IN: (difference) => placeOf(difference, ownAppId),
      WHAT: whatOf,
    }),
  ];
}

function placeOf({ applicationId, within }: BuildDifference, ownAppId: string): string {
  const library = applicationId === ownAppId ? [] : [applicationId];
  return [...library, ...(within === null ? [] : [within])].join(' ');
}

/** Whether a tool can be used matters as much as that it is there. */
function whatOf({ members, enabled }: BuildDifference): string {
  const flag = enabled === null ? [] : [enabled ? 'is enabled' : 'is disabled'];
  return [...members.filter((member) => enabled === null || member !== 'enabled'), ...flag].join(', ');
}

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
