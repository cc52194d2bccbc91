import { FieldsWith } from '../../platform/openapi/answer-fields.decorators.js';
import { IsPathId } from '../../platform/validation/patterns.decorators.js';
import { AppVersionParams } from '../../apps/app.params.dto.js';
import type { SystemKey } from './system.types.js';

export class SystemParams extends FieldsWith(AppVersionParams, {
  systemResourceId: IsPathId('`resourceId` of the system.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
}) {}

export function keyOf({ appId, versionId, systemResourceId }: SystemParams): SystemKey {
  return { appId, appVersionId: versionId, resourceId: systemResourceId };
}
