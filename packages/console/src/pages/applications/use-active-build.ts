import { api } from '../../app/session.js';
import { orNull } from '../../live/or-null.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** Active build of an application, with the ETag for conditional activation. */
export interface ActiveBuild {
  buildId: string | null;
  activatedDate: string | null;
  tag: string | null;
}

/** Loads the active build; its fields are null before the first activation. */
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
