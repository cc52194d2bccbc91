import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import type { BuildInfo } from '../model/builds.types.js';

const PLATFORMS = ['OMNICHANNEL', 'WEB', 'MOBILE'] as const;

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

export function toBuildInfo({
  buildId,
  applicationId,
  applicationVersionId,
  settings,
}: BuildInfo): BuildInfoResponseDto {
  const { platforms, themeId, defaultLanguageCode } = settings;
  const { minDecimals, maxDecimals } = settings.numberDisplayFormat;
  return {
    buildId,
    applicationId,
    buildSettings: {
      applicationVersionId,
      platforms,
      themeId,
      dateDisplayFormat: { format: settings.dateDisplayFormat.format },
      numberDisplayFormat: { minDecimals, maxDecimals },
      currencyDisplayFormat: { format: settings.currencyDisplayFormat.format },
      defaultLanguageCode,
    },
  };
}
