import { parseArgs } from 'node:util';
import { makeImage } from './image/make-image.js';
import { copyModules, reachedModules } from './image/reached-modules.js';

/**
 * Makes the container image of the built service, or only the part of `node_modules` that it loads.
 *
 *     npm run image
 *     npm run image -- --modules /out     for the Dockerfile
 */
const { values } = parseArgs({
  options: { out: { type: 'string', default: '.cache/image' }, modules: { type: 'string' } },
});
if (values.modules === undefined) {
  const { digest, newer } = await makeImage(values.out);
  console.log(`${values.out}/layout holds ${digest}; sbom.cdx.json and provenance.json stand beside it.`);
  if (newer.length > 0) {
    console.log(`Debian has replaced pinned packages: ${newer.join(', ')}. Renew deploy/image/base.json.`);
  }
} else {
  await copyModules(await reachedModules(), values.modules);
}
