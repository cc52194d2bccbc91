import { pagesOf, type StartableProcess } from '../../../client/src/index.js';
import { api } from './session.js';

const PAGE_SIZE = 200;

/** The active build of an application. */
export interface Startable {
  buildId: string;
  processes: readonly StartableProcess[];
}

/** All processes of the active build of an application. */
export async function startable(appId: string, signal: AbortSignal): Promise<Startable> {
  const { data: build } = await api().getBuildInfo({ path: { appId }, signal });
  const { buildId } = build;
  const processes: StartableProcess[] = [];
  // This list is by name, so it goes on after one.
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
