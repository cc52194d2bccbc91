import { z } from 'zod';
import { idRule, textRule } from './rules.js';

const formatRule = z.strictObject({ format: textRule(1, 64) });

/** Settings that front ends read from the build info endpoint (docs/process-semantics.md, section 1). */
export const settingsSchema = z
  .strictObject({
    platforms: z
      .enum(['OMNICHANNEL', 'WEB', 'MOBILE'])
      .default('OMNICHANNEL')
      .describe('Where the application is shown.'),
    themeId: idRule.nullable().default(null).describe('Theme of the front end.'),
    dateDisplayFormat: formatRule.default({ format: 'yyyy-MM-dd' }).describe('How dates are shown.'),
    numberDisplayFormat: z
      .strictObject({
        minDecimals: z.int().min(0).max(20).default(0),
        maxDecimals: z.int().min(0).max(20).default(2),
      })
      .default({ minDecimals: 0, maxDecimals: 2 })
      .describe('How numbers are shown.'),
    currencyDisplayFormat: formatRule.default({ format: 'isoCode' }).describe('How amounts are shown.'),
    defaultLanguageCode: z
      .string()
      .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language tag such as "en" or "pt-BR"')
      .default('en')
      .describe('Default language (BCP 47).'),
  })
  .meta({ id: 'Settings', description: 'Settings for front ends.' });

/** A library that the application uses: one build of another application (docs/contract.md, section 6). */
export const librarySchema = z
  .strictObject({
    appId: idRule.describe('Application that is the library.'),
    buildId: idRule.describe('The build to use.'),
  })
  .meta({ id: 'Library', description: 'A library dependency.' });

/** `application.json` of a package. */
export const applicationSchema = z
  .strictObject({
    $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
    formatVersion: z.literal(1).describe('Version of this format.'),
    appId: idRule.describe('Id of the application; must match the path of the delivery.'),
    name: textRule(1, 255).describe('Display name.'),
    description: textRule(0, 2_000).default('').describe('What the application is for.'),
    settings: settingsSchema.prefault({}).describe('Settings for front ends.'),
    usableBy: z
      .array(idRule)
      .meta({ uniqueItems: true })
      .optional()
      .describe('Applications that may use builds of this package as a library; if absent, none.'),
    systemsUsableBy: z
      .array(idRule)
      .meta({ uniqueItems: true })
      .optional()
      .describe(
        'Applications among them that may use systems of this package, with their credentials, in their own nodes; if absent, all of them.',
      ),
    libraries: z.array(librarySchema).default([]).describe('Libraries; one build per application.'),
  })
  .meta({ id: 'Application', description: 'Description of the application: application.json.' });
