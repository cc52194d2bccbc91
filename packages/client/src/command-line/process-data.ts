import { readFile } from 'node:fs/promises';
import {
  parseExactly,
  refuseRounded,
  RoundedIntegerError,
  jsonFault,
  isJsonObject,
  type JsonObject,
} from '#engine/json';
import { UsageError, type SvcEnvironment } from './session.js';

/**
 * Reads process data from an option: JSON, `@FILE`, or `-` for standard input.
 * @throws UsageError when it is not a JSON object
 */
export async function processData(
  given: string | undefined,
  { pathOf, readInput }: SvcEnvironment,
): Promise<JsonObject> {
  if (given === undefined) {
    return {};
  }
  const text = await textOf(given, pathOf, readInput);
  let fault = '';
  try {
    const data: unknown = parseExactly(text, refuseRounded);
    if (isJsonObject(data)) {
      return data;
    }
  } catch (error) {
    fault =
      error instanceof RoundedIntegerError ? ` ${error.message}.` : ` Not JSON: ${jsonFault(error, text)}.`;
  }
  throw new UsageError(`--data must be a JSON object, @FILE, or - for standard input.${fault}`);
}

async function textOf(
  given: string,
  pathOf: SvcEnvironment['pathOf'],
  readInput: SvcEnvironment['readInput'],
): Promise<string> {
  if (given === '-') {
    return readInput();
  }
  if (!given.startsWith('@')) {
    return given;
  }
  return readFile(pathOf(given.slice(1)), 'utf8').catch(() => {
    throw new UsageError(`--data: the file ${given.slice(1)} does not exist or cannot be read.`);
  });
}
