import { may } from '../app/permissions.js';
import { api } from '../app/session.js';
import { useAnswer, type Answer } from './use-answer.js';

const VERSIONS_READ = 100;

/** Whether a version can still be changed; null where that is not known. */
export type VersionState = 'DRAFT' | 'COMMITTED' | null;

/** Versions have no route of their own; the list is read until the version is there. Null too for who may not list versions. */
export function useVersionState(appId: string, versionId: string): Answer<VersionState> {
  return useAnswer(
    async (signal): Promise<VersionState> => {
      if (!may('application-delivery', appId)) {
        return null;
      }
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
