import { pagesOf } from '../../../client/src/index.js';
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
      for await (const { versions } of pagesOf((cursor) =>
        api().listVersions({ path: { appId }, query: { limit: VERSIONS_READ, ...cursor }, signal }),
      )) {
        const found = versions.find(({ applicationVersionId }) => applicationVersionId === versionId);
        if (found !== undefined) {
          return found.status;
        }
      }
      return null;
    },
    [appId, versionId],
  );
}
