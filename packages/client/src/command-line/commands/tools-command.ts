import { pagesOf, ServiceError, type SvcClient, type SystemResponse } from '../../index.js';
import { didYouMean } from '#engine/support';
import { UsageError, type Session } from '../session.js';
import { table } from '../lines.js';
import { printable } from '../../../../../src/platform/printable.js';

const FORBIDDEN = 403;

type Version = { appId: string; versionId: string };
type NamedSystem = SystemResponse & { resourceName: string };

/** Lists the MCP systems of a version with their tools. With --enable or --disable, switches a tool first. */
export async function tools(
  session: Session,
  appId: string,
  versionId: string,
  { enable, disable }: { enable?: string; disable?: string },
): Promise<number> {
  if (enable !== undefined && disable !== undefined) {
    throw new UsageError('--enable and --disable cannot be combined.');
  }
  const version = { appId, versionId };
  const svc = await session.service();
  const named = enable ?? disable;
  if (named !== undefined) {
    await switchTool(svc, version, named, enable !== undefined);
  }
  const systems = await systemsOf(svc, version);
  const existence = systems.length > 0 ? 'exists' : await existenceOf(svc, version);
  if (existence === 'missing') {
    throw new UsageError(printable(`There is no version ${versionId} of ${appId}.`));
  }
  const none = `Version ${versionId} of ${appId} has no MCP system${existence === 'unknown' ? ', or there is no such version' : ''}.`;
  const lines = (): string[] =>
    table(
      systems.flatMap(({ name: system, tools: found }) =>
        found.length === 0
          ? [
              {
                system,
                name: 'none: the connection was not tested, or the server has no tools',
                enabled: '',
                description: '',
              },
            ]
          : found.map((tool) => ({ ...tool, system, enabled: tool.enabled ? 'yes' : 'no' })),
      ),
      { SYSTEM: 'system', TOOL: 'name', ENABLED: 'enabled', DESCRIPTION: 'description' },
    );
  session.showList(systems, lines, none);
  return 0;
}

/**
 * Returns whether a version exists, since a missing version and one without systems have the same list of systems.
 * @returns 'unknown' when the caller may not list versions
 */
async function existenceOf(
  svc: SvcClient,
  { appId, versionId }: Version,
): Promise<'exists' | 'missing' | 'unknown'> {
  try {
    const path = { appId };
    for await (const { versions } of pagesOf((cursor) => svc.listVersions({ path, query: cursor }))) {
      if (versions.some((version) => version.applicationVersionId === versionId)) {
        return 'exists';
      }
    }
    return 'missing';
  } catch (error) {
    if (error instanceof ServiceError && error.status === FORBIDDEN) {
      return 'unknown';
    }
    throw error;
  }
}

/**
 * Enables or disables a tool.
 * @param named SYSTEM/TOOL, where SYSTEM is a name or resourceName
 * @throws UsageError when `named` has no system, there is no such tool, or several have the name
 */
async function switchTool(svc: SvcClient, version: Version, named: string, enabled: boolean): Promise<void> {
  if (!named.includes('/')) {
    throw new UsageError('Name the tool as SYSTEM/TOOL.');
  }
  const systems = await systemsOf(svc, version);
  const found = toolsNamed(systems, named);
  const [only] = found;
  if (only === undefined) {
    throw new UsageError(printable(`There is no tool ${named}: ${reasonOf(named, systems, version)}`));
  }
  if (found.length > 1) {
    throw new UsageError(`Several tools are called ${named}; use the resource name of the system.`);
  }
  const { resourceId, id } = only.system;
  const path = { ...version, systemResourceId: resourceId, systemId: id, toolId: only.tool.id };
  await svc.switchTool({ path, body: { enabled } });
}

async function systemsOf(svc: SvcClient, version: Version): Promise<NamedSystem[]> {
  const { data } = await svc.listSystems({ path: version, query: { includeManifestInfo: true } });
  const systems = data.systems
    .filter(({ type }) => type === 'MCP')
    .map(async ({ resourceId, name, manifestInfo }) => {
      const system = await svc.getSystem({ path: { ...version, systemResourceId: resourceId } });
      return { ...system.data, resourceName: manifestInfo?.resourceName ?? name };
    });
  return Promise.all(systems);
}

type Found = { system: NamedSystem; tool: SystemResponse['tools'][number] };

function toolsNamed(systems: NamedSystem[], named: string): Found[] {
  return systems.flatMap((system) =>
    system.tools
      .filter(({ name }) => namesOf(system).some((one) => `${one}/${name}` === named))
      .map((tool) => ({ system, tool })),
  );
}

function namesOf({ name, resourceName }: NamedSystem): string[] {
  return [name, resourceName];
}

function reasonOf(named: string, systems: NamedSystem[], { appId, versionId }: Version): string {
  if (systems.length === 0) {
    return `version ${versionId} of ${appId} has no MCP system, or there is no such version.`;
  }
  const system = systems.find((one) => namesOf(one).some((name) => named.startsWith(`${name}/`)));
  if (system === undefined) {
    const [name = ''] = named.split('/');
    return `there is no MCP system ${name}.${didYouMean(name, systems.flatMap(namesOf))}`;
  }
  const { name, tools: known } = system;
  const written = namesOf(system).find((one) => named.startsWith(`${one}/`)) ?? '';
  const hint = didYouMean(
    named.slice(written.length + 1),
    known.map((tool) => tool.name),
  );
  return known.length === 0
    ? `the connection of ${name} was not tested (svc deliver --test-connections), or it has no tools.`
    : `${name} has no tool with that name.${hint}`;
}
