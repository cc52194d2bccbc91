import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

const VERSIONS_READ = 100;

/** Whether a version can still be changed; null where there is no such version. */
export type VersionState = 'DRAFT' | 'COMMITTED' | null;

/** Versions have no route of their own; the list is read until the version is there. */
export function useVersionState(appId: string, versionId: string): Answer<VersionState> {
  return useAnswer(
    async (signal): Promise<VersionState> => {
      let before: string | null = null;
      do {
        const query: { limit: number; before?: string } = {
          limit: VERSIONS_READ,
          ...(before === null ? {} : { before }),
        };
        const { data } = await api().listVersions({ path: { appId }, query, signal });
        const found = data.versions.find(({ applicationVersionId }) => applicationVersionId === versionId);
        if (found !== undefined) {
          return found.status;
        }
        before = data.next;
      } while (before !== null);
      return null;
    },
    [appId, versionId],
  );
}
