import { pagesOf, type StartableProcess } from '../../../client/src/index.js';
import { api } from './session.js';

const PAGE_SIZE = 200;

/** Active build of an application, and its processes. */
export interface ActiveBuildProcesses {
  buildId: string;
  processes: readonly StartableProcess[];
}

/** Loads all processes of the active build of an application. */
export async function loadActiveBuildProcesses(
  appId: string,
  signal: AbortSignal,
): Promise<ActiveBuildProcesses> {
  const { data: build } = await api().getBuildInfo({ path: { appId }, signal });
  const { buildId } = build;
  const processes: StartableProcess[] = [];
  // The list is ordered by name, so its cursor is called `after`.
  for await (const page of pagesOf(({ before: after }) =>
    api().listProcesses({
      path: { appId, buildId },
      query: { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) },
      signal,
    }),
  )) {
    processes.push(...page.processes);
  }
  return { buildId, processes };
}
