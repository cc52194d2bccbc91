import { createHash } from 'node:crypto';
import { canonicalJson, canonicalPieces } from '../../../platform/json/canonical-json.js';
import { turnWithRoom } from '#engine/support';
import { quotedIn } from '../../../store/tables/column-values.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import type { PackageText } from '../model/builds.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import type { BuildToolFacts, NewDefinition, NewWorkflow } from '../storage/build-contents.repository.js';
import type { BuildSystemEntity } from '../storage/build.entity.js';

/** Everything in a build but its id and time; texts are as `storedBytes` makes them. */
export interface BuildContent {
  version: AppVersionKey;
  packageChecksum: string;
  settings: PackageSettings;
  libraries: readonly BuildLibraryDto[];
  definitions: readonly Omit<NewDefinition, 'id' | 'buildId'>[];
  workflows: readonly Omit<NewWorkflow, 'buildId'>[];
  systems: readonly BuildSystemEntity[];
  tools: readonly BuildToolFacts[];
}

/**
 * Checksum of a build: SHA-256 of the canonical JSON (RFC 8785) of what it holds. Libraries and workflows are sorted, since their rows
 * have no order.
 */
export async function buildChecksum(content: BuildContent): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of canonicalPieces(checkedOf(content))) {
    hash.update(piece);
    await turnWithRoom();
  }
  return hash.digest('hex');
}

/** Hash of a text of a build, by which it is known again when it is read later. */
export function textHash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The package of a version that holds nothing but systems registered by endpoint 1, which can be built too. */
export function emptyPackage({ appId }: AppVersionKey): PackageText {
  const document = { application: { formatVersion: 1, appId, name: appId } };
  const checksum = textHash(canonicalJson(document));
  return { json: Buffer.from(JSON.stringify(document)), checksum };
}

function checkedOf(content: BuildContent): object {
  const { version, packageChecksum, settings, libraries, definitions, workflows, systems, tools } = content;
  return {
    ...version,
    packageChecksum,
    settings,
    tools,
    libraries: libraries.toSorted((one, other) => (one.appId < other.appId ? -1 : 1)),
    definitions: definitions.map(({ name, svcUuid, resourceId, file, graph, bpmn }) => ({
      name,
      svcUuid,
      resourceId,
      file,
      graph: quotedIn(graph),
      bpmn: quotedIn(bpmn),
    })),
    workflows: workflows
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, resourceId, resourceDefinitionId, definition }) => ({
        name,
        resourceId,
        resourceDefinitionId,
        definition: quotedIn(definition),
      })),
    systems: systems.map(({ buildId: _buildId, ...system }) => system),
  };
}
