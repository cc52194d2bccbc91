import { ServiceError } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

const NOT_FOUND = 404;

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
      try {
        const { data, response } = await api().getActiveBuild({ path: { appId }, signal });
        return { ...data, tag: response.headers.get('etag') };
      } catch (error) {
        if (error instanceof ServiceError && error.status === NOT_FOUND) {
          return { buildId: null, activatedDate: null, tag: null };
        }
        throw error;
      }
    },
    [appId],
  );
}
