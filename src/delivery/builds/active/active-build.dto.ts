import { ApiProperty } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';
import {
  Answer,
  AnswerWith,
  Shows,
  shows,
  Fields,
} from '../../../platform/openapi/answer-fields.decorators.js';
import { IsPathId } from '../../../platform/validation/patterns.decorators.js';
import { BuildStatus, RunningInstances } from '../model/builds.types.js';

const PLATFORMS = ['OMNICHANNEL', 'WEB', 'MOBILE'] as const;

export class ActivateBuildRequestDto extends Fields({
  buildId: IsPathId('A build of this application.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
}) {}

export class ActiveBuildResponseDto extends Answer({
  buildId: Shows.uuid('The active build.'),
  activatedDate: Shows.moment('Time at which it was activated.', '2026-01-31T10:20:30.123Z'),
}) {}

export class ActivatedBuildResponseDto extends AnswerWith(ActiveBuildResponseDto, {
  previousBuildId: Shows.uuidOrNull(
    'The build that was active before. The same build if nothing changed; null if there was none.',
  ),
}) {}

export function toActiveBuild<Build extends { activatedAt: Date }>({
  activatedAt,
  ...build
}: Build): Omit<Build, 'activatedAt'> & { activatedDate: string } {
  return { ...build, activatedDate: activatedAt.toISOString() };
}

/** How to treat the running instances of a build that is withdrawn. */
export class WithdrawBuildRequestDto {
  @ApiProperty({
    enum: RunningInstances,
    enumName: 'RunningInstances',
    description:
      'How to treat running instances: let them continue, put them on hold, or terminate them together with the processes that they called.',
    example: RunningInstances.Continue,
  })
  @IsEnum(RunningInstances, {
    message: `must be one of ${Object.values(RunningInstances).join(', ')}`,
  })
  running: RunningInstances;
}

export class WithdrawnBuildResponseDto extends Answer({
  buildId: Shows.uuid('The withdrawn build.'),
  buildStatus: Shows.enum('BuildStatus', BuildStatus, 'Its status.', BuildStatus.Withdrawn),
  running: Shows.enum(
    'RunningInstances',
    RunningInstances,
    'How running instances are treated, in the background.',
  ),
  wasActive: Shows.flag(
    'Whether it was the active build. If so, the application has no active build until another one is activated.',
    false,
  ),
}) {}

export class DisplayFormatDto extends Answer({
  format: Shows.value('The format, as the front end reads it.', 'yyyy-MM-dd'),
}) {}

export class NumberDisplayFormatDto extends Answer({
  minDecimals: shows<number>({ type: 'integer', minimum: 0 })('Minimum number of decimals.', 0),
  maxDecimals: shows<number>({ type: 'integer', minimum: 0 })('Maximum number of decimals.', 2),
}) {}

/** Settings of a build for front ends. */
export class BuildSettingsDto extends Answer({
  applicationVersionId: Shows.value('Version that the build was made from.', 'v1'),
  platforms: shows<(typeof PLATFORMS)[number]>({ enum: PLATFORMS })(
    'Where the application is shown.',
    'OMNICHANNEL',
  ),
  themeId: Shows.textOrNull('Theme of the front end.', 'default'),
  dateDisplayFormat: Shows.part(() => DisplayFormatDto, 'How dates are shown.'),
  numberDisplayFormat: Shows.part(() => NumberDisplayFormatDto, 'How numbers are shown.'),
  currencyDisplayFormat: Shows.part(() => DisplayFormatDto, 'How amounts of money are shown.'),
  defaultLanguageCode: Shows.value('Default language (BCP 47).', 'en'),
}) {}

/** What front ends need to know about the active build. */
export class BuildInfoResponseDto extends Answer({
  buildId: Shows.uuid('The active build, used as `buildId` to start a process.'),
  applicationId: Shows.value('Id of the application.', 'sample'),
  buildSettings: Shows.part(() => BuildSettingsDto, 'Settings that the application was delivered with.'),
}) {}
