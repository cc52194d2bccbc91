import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeBase } from './base.js';
import { writeLayout } from './oci-layout.js';
import { bill, provenance, readSource } from './papers.js';
import { copyModules, reachedModules } from './reached-modules.js';
import { RUN_CONFIG } from './run-config.js';

/** An image that was made. */
export interface Image {
  /** `sha256:…` of its manifest. */
  digest: string;
  /** Packages of the base in a newer version than the pinned one, which the mirror does not offer any more. */
  newer: string[];
}

/**
 * Makes the image of the built service without a container engine. Besides the folder `layout` it writes `sbom.cdx.json` and
 * `provenance.json`. Equal sources and an equal base make an equal digest.
 * @param folder is emptied first
 * @throws Error when a part of the base cannot be had, or is not what is pinned
 */
export async function makeImage(folder: string): Promise<Image> {
  await rm(folder, { recursive: true, force: true });
  const work = join(folder, 'work');
  const layers = { base: join(work, 'base'), modules: join(work, 'modules'), service: join(work, 'service') };
  await mkdir(layers.base, { recursive: true });
  const { parts, newer } = await makeBase(layers.base);
  const reached = await reachedModules();
  await copyModules(reached, join(layers.modules, 'app'));
  await mkdir(join(layers.service, 'app'), { recursive: true });
  await cp('package.json', join(layers.service, 'app/package.json'));
  await cp('dist', join(layers.service, 'app/dist'), { recursive: true });
  const { name, version } = JSON.parse(await readFile('package.json', 'utf8')) as {
    name: string;
    version: string;
  };
  const source = readSource();
  const labels = {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.version': version,
    ...(source.commit === undefined ? {} : { 'org.opencontainers.image.revision': source.commit }),
  };
  const { digest } = await writeLayout(join(folder, 'layout'), {
    // What changes most stands last, so that the layers before it stay what they are.
    layers: [layers.base, layers.modules, layers.service],
    config: { ...RUN_CONFIG, Labels: labels },
    architecture: 'amd64',
    time: source.time,
    name: `${name}:${version}`,
  });
  await rm(work, { recursive: true });
  const contents = { name, version, digest, source, base: parts, packages: reached.packages };
  await writeFile(join(folder, 'sbom.cdx.json'), JSON.stringify(bill(contents), null, 2));
  await writeFile(join(folder, 'provenance.json'), JSON.stringify(provenance(contents), null, 2));
  return { digest, newer };
}
