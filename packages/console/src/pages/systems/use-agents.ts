import type { PreflightNode, PreflightSystem } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { orNull } from '../../live/or-null.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import type { KnownSystem } from './system.types.js';

/** Agent that uses a system, and the state of the tools for it. */
export interface AgentUse {
  /** Active build; null for the version. */
  buildId: string | null;
  node: PreflightNode;
  system: PreflightSystem;
}

/** Loads the agents of the version and of the active build that use a system. Empty for users who may not deliver the application. */
export function useAgents({ path, system }: KnownSystem): Answer<AgentUse[]> {
  const { appId, versionId } = path;
  return useAnswer(
    async (signal) => {
      if (!may('application-delivery', appId)) {
        return [];
      }
      const isOurs = (one: PreflightSystem): boolean =>
        one.appId === appId && one.resourceDefinitionId === system.resourceDefinitionId;
      const ofVersion = await api().preflightVersion({ path: { appId, versionId }, signal });
      const active = await orNull(api().getActiveBuild({ path: { appId }, signal }));
      const buildId = active === null ? null : active.data.buildId;
      const ofBuild =
        buildId === null ? [] : (await api().preflightBuild({ path: { appId, buildId }, signal })).data.nodes;
      return [...usesIn(ofBuild, buildId, isOurs), ...usesIn(ofVersion.data.nodes, null, isOurs)];
    },
    [appId, versionId, system.modifiedDate],
  );
}

function usesIn(
  nodes: readonly PreflightNode[],
  buildId: string | null,
  isOurs: (system: PreflightSystem) => boolean,
): AgentUse[] {
  return nodes.flatMap((node) => node.systems.filter(isOurs).map((system) => ({ buildId, node, system })));
}
