import type { SvcClient } from '../../clients/typescript/src/index.js';
import { systemsOf } from '../delivery/connection-tests.js';
import { UsageError, type Session } from './session.js';
import { table } from './table.js';

type Version = { appId: string; versionId: string };

/** Lists the MCP systems of a version with their tools; before that, switches one where that is asked for. */
export async function tools(
  session: Session,
  appId: string,
  versionId: string,
  { enable, disable }: { enable?: string; disable?: string },
): Promise<number> {
  if (enable !== undefined && disable !== undefined) {
    throw new UsageError('--enable and --disable exclude each other.');
  }
  const version = { appId, versionId };
  const svc = await session.service();
  const named = enable ?? disable;
  if (named !== undefined) {
    await switchTool(svc, version, named, enable !== undefined);
  }
  const systems = await systemsOf(svc, version);
  const lines = (): string[] =>
    table(
      ['SYSTEM', 'TOOL', 'ENABLED', 'DESCRIPTION'],
      systems.flatMap(({ name, tools: found }) =>
        found.length === 0
          ? [[name, 'none: its connection was not tested, or it has none', '', '']]
          : found.map((tool) => [name, tool.name, tool.enabled ? 'yes' : 'no', tool.description]),
      ),
    );
  session.showList(systems, lines, `Version ${versionId} of ${appId} has no MCP system.`);
  return 0;
}

async function switchTool(svc: SvcClient, version: Version, named: string, enabled: boolean): Promise<void> {
  const found = (await systemsOf(svc, version)).flatMap((system) =>
    system.tools.filter(({ name }) => `${system.name}/${name}` === named).map((tool) => ({ system, tool })),
  );
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const why = only === undefined ? 'There is no tool' : 'There are several tools';
    throw new UsageError(`${why} ${named}: name it as SYSTEM/TOOL.`);
  }
  const { resourceId, id } = only.system;
  const path = { ...version, systemResourceId: resourceId, systemId: id, toolId: only.tool.id };
  await svc.switchTool({ path, body: { enabled } });
}
