import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../common/canonical-json.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { PackageText } from './builds.types.js';

/** The package of a version that holds nothing but systems registered by endpoint 1, which can be built too. */
export function emptyPackage({ appId }: AppVersionKey): PackageText {
  const document = { application: { formatVersion: 1, appId, name: appId } };
  const checksum = createHash('sha256').update(canonicalJson(document)).digest('hex');
  return { json: Buffer.from(JSON.stringify(document)), checksum };
}
