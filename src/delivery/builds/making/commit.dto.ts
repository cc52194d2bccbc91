import { Answer, Shows, shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { IsOptional } from 'class-validator';
import { IsText } from '../../../platform/validation/patterns.decorators.js';
import { AppVersionState } from '../../../apps/apps.types.js';
import { PackageProblemDto } from '../model/package.dto.js';

const MESSAGE_MAX_LENGTH = 50;

export class CommitVersionRequestDto {
  @IsText(1, MESSAGE_MAX_LENGTH, {
    required: false,
    nullable: true,
    description: 'Reason for the commit, for the audit log; null for none.',
    example: 'Release 1.4',
  })
  @IsOptional()
  message?: string | null;
}

/** A version after its commit. */
export class CommittedVersionResponseDto extends Answer({
  appId: Shows.value('Id of the application.', 'sample'),
  appVersionId: Shows.value('Id of the version.', 'v1'),
  status: shows<AppVersionState>({ enum: [AppVersionState.Committed] })(
    'A committed version is read-only.',
    'COMMITTED',
  ),
  committedDate: Shows.moment('Time of the commit.', '2026-01-31T10:20:30.123Z'),
  warnings: Shows.list(
    () => PackageProblemDto,
    'What to resolve before making a build, such as systems whose connection was never tested.',
  ),
}) {}
