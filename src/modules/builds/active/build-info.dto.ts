import { ApiProperty } from '@nestjs/swagger';
import type { BuildInfo } from '../model/builds.types.js';

const PLATFORMS = ['OMNICHANNEL', 'WEB', 'MOBILE'] as const;

/** A display format. */
export class DisplayFormatDto {
  @ApiProperty({ description: 'The format, as the front end reads it.', example: 'yyyy-MM-dd' })
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
  @ApiProperty({ description: 'Version that the build was made of.', example: 'v1' })
  applicationVersionId: string;

  @ApiProperty({ enum: PLATFORMS, description: 'Where the application is shown.', example: 'OMNICHANNEL' })
  platforms: (typeof PLATFORMS)[number];

  @ApiProperty({ type: String, nullable: true, description: 'Theme of the front end.', example: 'default' })
  themeId: string | null;

  @ApiProperty({ type: () => DisplayFormatDto, description: 'How dates are shown.' })
  dateDisplayFormat: DisplayFormatDto;

  @ApiProperty({ type: () => NumberDisplayFormatDto, description: 'How numbers are shown.' })
  numberDisplayFormat: NumberDisplayFormatDto;

  @ApiProperty({ type: () => DisplayFormatDto, description: 'How amounts of money are shown.' })
  currencyDisplayFormat: DisplayFormatDto;

  @ApiProperty({ description: 'Language without a choice of the user (BCP 47).', example: 'en' })
  defaultLanguageCode: string;
}

/** What a front end needs to know of the active build. */
export class BuildInfoResponseDto {
  @ApiProperty({ format: 'uuid', description: 'The active build: `buildId` of the start of a process.' })
  buildId: string;

  @ApiProperty({ description: 'Id of the application.', example: 'sample' })
  applicationId: string;

  @ApiProperty({
    type: () => BuildSettingsDto,
    description: 'Settings that the application was delivered with.',
  })
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
