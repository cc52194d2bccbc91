import { api } from '../../app/session.js';
import { orNull } from '../../live/or-null.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** The active build of an application, with the tag by which nobody overwrites what somebody else has chosen. */
export interface ActiveBuild {
  buildId: string | null;
  activatedDate: string | null;
  tag: string | null;
}

/** Which build is active; none before the first activation. */
export function useActiveBuild(appId: string): Answer<ActiveBuild> {
  return useAnswer(
    async (signal): Promise<ActiveBuild> => {
      const found = await orNull(api().getActiveBuild({ path: { appId }, signal }));
      return found === null
        ? { buildId: null, activatedDate: null, tag: null }
        : { ...found.data, tag: found.response.headers.get('etag') };
    },
    [appId],
  );
}
