import { Shows } from '../../../common/answer-fields.decorators.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import type { Activation } from '../model/builds.types.js';

/** Which build to activate. */
export class ActivateBuildRequestDto {
  @IsPathId({ description: 'A build of this application.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01' })
  buildId: string;
}

/** The active build. */
export class ActiveBuildResponseDto {
  @Shows.uuid('The build that is active.')
  buildId: string;

  @Shows.moment('Since when.', '2026-01-31T10:20:30.123Z')
  activatedDate: string;
}

/** What an activation changed. */
export class ActivatedBuildResponseDto extends ActiveBuildResponseDto {
  @Shows.uuidOrNull(
    'The build that was active before, the same one when nothing changed; null when there was none.',
  )
  previousBuildId: string | null;
}

export function toActiveBuild({
  buildId,
  activatedAt,
}: Omit<Activation, 'previousBuildId'>): ActiveBuildResponseDto {
  return { buildId, activatedDate: activatedAt.toISOString() };
}

export function toActivatedBuild(activation: Activation): ActivatedBuildResponseDto {
  return { ...toActiveBuild(activation), previousBuildId: activation.previousBuildId };
}
