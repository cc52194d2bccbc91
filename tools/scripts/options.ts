import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Parses the options of an npm script. Exits with status 2 if an option is unknown or has no value. */
export function scriptOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(
      `${(error as Error).message}\n"npm run ${process.env['npm_lifecycle_event']} -- --help" lists the options.`,
    );
    process.exit(2);
  }
}
