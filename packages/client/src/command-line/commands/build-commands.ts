import type { BuildDifference, BuildDifferencesResponse, RunningInstances } from '../../index.js';
import type { Session } from '../session.js';
import { table } from '../lines.js';

/** Returns what activating a build would change, or its differences from another build. */
export async function differencesOf(
  session: Session,
  path: { appId: string; buildId: string },
  baseBuildId?: string,
): Promise<BuildDifferencesResponse> {
  const svc = await session.service();
  return (await svc.compareBuild({ path, query: baseBuildId === undefined ? {} : { baseBuildId } })).data;
}

/** Shows the differences between a build and the active one or another one. */
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

/** Formats differences for people; one line if there are none. */
export function differenceLines(
  { activeBuildId, baseBuildId, differences: found }: BuildDifferencesResponse,
  ownAppId: string,
): string[] {
  if (activeBuildId === null && baseBuildId === undefined) {
    return [`no build is active: everything is new (${found.length} parts)`];
  }
  const base = baseBuildId === undefined ? 'the active build' : 'the build';
  if (found.length === 0) {
    return [`no differences from ${base}${baseBuildId === undefined ? '' : ` ${baseBuildId}`}`];
  }
  return [
    `differences from ${base} ${baseBuildId ?? activeBuildId}:`,
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

/** Lists the changed members, and for a tool always whether it is enabled. */
function whatOf({ members, enabled }: BuildDifference): string {
  const flag = enabled === null ? [] : [enabled ? 'is enabled' : 'is disabled'];
  return [...members.filter((member) => enabled === null || member !== 'enabled'), ...flag].join(', ');
}

/** Values of `--running`. */
export const RUNNING = ['continue', 'hold', 'terminate'] as const;

/** Withdraws a build, which can then no longer be started. */
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
