import type { BuildDifference, BuildDifferencesResponse } from '../../clients/typescript/src/index.js';
import type { Session } from './session.js';
import { table } from './table.js';

/** What the activation of a build would change. */
export async function differencesOf(
  session: Session,
  path: { appId: string; buildId: string },
): Promise<BuildDifferencesResponse> {
  const svc = await session.service();
  return (await svc.compareBuild({ path })).data;
}

/** The same for people; one line where nothing is other. */
export function differenceLines(
  { activeBuildId, differences }: BuildDifferencesResponse,
  ownAppId: string,
): string[] {
  if (activeBuildId === null) {
    return [`no build is active: all is new (${differences.length} parts)`];
  }
  if (differences.length === 0) {
    return ['nothing is other than in the active build'];
  }
  return [
    `other than in the active build ${activeBuildId}:`,
    ...table(
      ['CHANGE', 'PART', 'NAME', 'IN', 'WHAT'],
      differences.map((difference) => [
        difference.change.toLowerCase(),
        difference.part.toLowerCase(),
        difference.name,
        placeOf(difference, ownAppId),
        whatOf(difference),
      ]),
    ),
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
