import { pagesOf } from '../../../client/src/index.js';
import { may } from '../app/permissions.js';
import { api } from '../app/session.js';
import { useAnswer, type Answer } from './use-answer.js';

const VERSIONS_READ = 100;

/** State of a version; null if unknown. */
export type VersionState = 'DRAFT' | 'COMMITTED' | null;

/** Reads the state of a version. Searches the list, because versions have no route; null if the user may not list them. */
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
