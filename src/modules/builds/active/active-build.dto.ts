import { ApiProperty } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import { BuildStatus, RunningInstances } from '../model/builds.types.js';

const PLATFORMS = ['OMNICHANNEL', 'WEB', 'MOBILE'] as const;

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
    message: `running must be one of ${Object.values(RunningInstances).join(', ')}`,
  })
  running: RunningInstances;
}

/** A build that was withdrawn. */
export class WithdrawnBuildResponseDto {
  @Shows.uuid('The build.')
  buildId: string;

  @Shows.enum('BuildStatus', BuildStatus, 'Its status.', BuildStatus.Withdrawn)
  buildStatus: BuildStatus;

  @Shows.enum('RunningInstances', RunningInstances, 'What becomes of running instances, in the background.')
  running: RunningInstances;

  @Shows.value(
    'Whether it was the active build. Then the application has none until another one is activated.',
    false,
  )
  wasActive: boolean;
}

/** A display format. */
export class DisplayFormatDto {
  @Shows.value('The format, as the front end reads it.', 'yyyy-MM-dd')
  format: string;
}

/** How numbers are shown. */
export class NumberDisplayFormatDto {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Least number of decimals.', example: 0 })
  minDecimals: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Largest number of decimals.', example: 2 })
  maxDecimals: number;
}

/** Settings of a build for front ends. */
export class BuildSettingsDto {
  @Shows.value('Version that the build was made of.', 'v1')
  applicationVersionId: string;

  @ApiProperty({ enum: PLATFORMS, description: 'Where the application is shown.', example: 'OMNICHANNEL' })
  platforms: (typeof PLATFORMS)[number];

  @Shows.textOrNull('Theme of the front end.', 'default')
  themeId: string | null;

  @Shows.part(() => DisplayFormatDto, 'How dates are shown.')
  dateDisplayFormat: DisplayFormatDto;

  @Shows.part(() => NumberDisplayFormatDto, 'How numbers are shown.')
  numberDisplayFormat: NumberDisplayFormatDto;

  @Shows.part(() => DisplayFormatDto, 'How amounts of money are shown.')
  currencyDisplayFormat: DisplayFormatDto;

  @Shows.value('Language without a choice of the user (BCP 47).', 'en')
  defaultLanguageCode: string;
}

/** What a front end needs to know of the active build. */
export class BuildInfoResponseDto {
  @Shows.uuid('The active build: `buildId` of the start of a process.')
  buildId: string;

  @Shows.value('Id of the application.', 'sample')
  applicationId: string;

  @Shows.part(() => BuildSettingsDto, 'Settings that the application was delivered with.')
  buildSettings: BuildSettingsDto;
}
