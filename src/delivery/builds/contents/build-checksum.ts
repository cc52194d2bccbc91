import { createHash } from 'node:crypto';
import { canonicalJson, canonicalPieces } from '../../../platform/json/canonical-json.js';
import { yieldEventLoop } from '#engine/support';
import { quotedIn } from '../../../store/tables/column-values.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import type { PackageText } from '../model/builds.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import type { BuildToolFacts, NewDefinition, NewWorkflow } from '../storage/build-contents.repository.js';
import type { BuildSystemEntity } from '../storage/build.entity.js';

/** Everything in a build except its id and time. Texts are in the form that `storedBytes` returns. */
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
 * Computes the checksum of a build: SHA-256 of the canonical JSON (RFC 8785) of its contents. Libraries and workflows are sorted, since
 * their rows have no order.
 */
export async function buildChecksum(content: BuildContent): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of canonicalPieces(checksumInput(content))) {
    hash.update(piece);
    await yieldEventLoop();
  }
  return hash.digest('hex');
}

/** Returns the hash by which a text of a build is verified when it is read again. */
export function textHash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the package of a version that has only systems registered by endpoint 1, which can be built too. */
export function emptyPackage({ appId }: AppVersionKey): PackageText {
  const document = { application: { formatVersion: 1, appId, name: appId } };
  const checksum = textHash(canonicalJson(document));
  return { json: Buffer.from(JSON.stringify(document)), checksum };
}

function checksumInput(content: BuildContent): object {
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
