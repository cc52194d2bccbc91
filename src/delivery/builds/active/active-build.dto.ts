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
  buildId: Shows.uuid('The build that is active.'),
  activatedDate: Shows.moment('Since when.', '2026-01-31T10:20:30.123Z'),
}) {}

export class ActivatedBuildResponseDto extends AnswerWith(ActiveBuildResponseDto, {
  previousBuildId: Shows.uuidOrNull(
    'The build that was active before, the same one when nothing changed; null when there was none.',
  ),
}) {}

export function toActiveBuild<Build extends { activatedAt: Date }>({
  activatedAt,
  ...build
}: Build): Omit<Build, 'activatedAt'> & { activatedDate: string } {
  return { ...build, activatedDate: activatedAt.toISOString() };
}

/** What becomes of the running instances of a build that is withdrawn. */
export class WithdrawBuildRequestDto {
  @ApiProperty({
    enum: RunningInstances,
    enumName: 'RunningInstances',
    description:
      'What becomes of instances that run: they go on, are put on hold, or are terminated with the processes that they called.',
    example: RunningInstances.Continue,
  })
  @IsEnum(RunningInstances, {
    message: `must be one of ${Object.values(RunningInstances).join(', ')}`,
  })
  running: RunningInstances;
}

export class WithdrawnBuildResponseDto extends Answer({
  buildId: Shows.uuid('The build.'),
  buildStatus: Shows.enum('BuildStatus', BuildStatus, 'Its status.', BuildStatus.Withdrawn),
  running: Shows.enum(
    'RunningInstances',
    RunningInstances,
    'What becomes of running instances, in the background.',
  ),
  wasActive: Shows.flag(
    'Whether it was the active build. Then the application has none until another one is activated.',
    false,
  ),
}) {}

export class DisplayFormatDto extends Answer({
  format: Shows.value('The format, as the front end reads it.', 'yyyy-MM-dd'),
}) {}

/** How numbers are shown. */
export class NumberDisplayFormatDto extends Answer({
  minDecimals: shows<number>({ type: 'integer', minimum: 0 })('Least number of decimals.', 0),
  maxDecimals: shows<number>({ type: 'integer', minimum: 0 })('Largest number of decimals.', 2),
}) {}

/** Settings of a build for front ends. */
export class BuildSettingsDto extends Answer({
  applicationVersionId: Shows.value('Version that the build was made of.', 'v1'),
  platforms: shows<(typeof PLATFORMS)[number]>({ enum: PLATFORMS })(
    'Where the application is shown.',
    'OMNICHANNEL',
  ),
  themeId: Shows.textOrNull('Theme of the front end.', 'default'),
  dateDisplayFormat: Shows.part(() => DisplayFormatDto, 'How dates are shown.'),
  numberDisplayFormat: Shows.part(() => NumberDisplayFormatDto, 'How numbers are shown.'),
  currencyDisplayFormat: Shows.part(() => DisplayFormatDto, 'How amounts of money are shown.'),
  defaultLanguageCode: Shows.value('Language without a choice of the user (BCP 47).', 'en'),
}) {}

/** What a front end needs to know of the active build. */
export class BuildInfoResponseDto extends Answer({
  buildId: Shows.uuid('The active build: `buildId` of the start of a process.'),
  applicationId: Shows.value('Id of the application.', 'sample'),
  buildSettings: Shows.part(() => BuildSettingsDto, 'Settings that the application was delivered with.'),
}) {}
