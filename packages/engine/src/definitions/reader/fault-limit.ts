import type { ModdleReader, ModdleWarning, ReadContext, RootHandler } from 'bpmn-moddle';

/** Work budget for locating faults in one file, in characters scanned. */
const MAX_WORK = 100_000_000;
/** Cost of a line break in characters. */
const LINE_BREAK_WORK = 100;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Reports a file with more faults than can be located. */
export class TooManyFaultsError extends Error {
  override readonly name = 'TooManyFaultsError';
  constructor(
    /** Faults found so far. */
    readonly warnings: readonly ModdleWarning[],
  ) {
    super();
  }
}

/**
 * Returns options that make the reader throw TooManyFaultsError. The parser counts lines from the start of the file for each fault, so
 * without a limit a file full of faults takes minutes.
 */
export function limitedFaults(xml: string): object {
  let left = Math.ceil(MAX_WORK / (xml.length + LINE_BREAK_WORK * lineBreaksOf(xml) + 1));
  return {
    handler(this: ModdleReader, type: string): RootHandler {
      const root = (Object.getPrototypeOf(this) as ModdleReader).handler.call(this, type);
      let context: ReadContext | undefined;
      // The context first becomes accessible here.
      Object.defineProperty(root, 'context', {
        get: () => context,
        set: (given: ReadContext) => {
          context = given;
          given.addWarning = (warning) => {
            given.warnings.push(warning);
            left -= warning.message.startsWith('unparsable content') ? 1 : 0;
            if (left <= 0) {
              throw new TooManyFaultsError(given.warnings);
            }
          };
        },
      });
      return root;
    },
  };
}

function lineBreaksOf(xml: string): number {
  let count = 0;
  for (let at = 0; at < xml.length; at += 1) {
    const code = xml.charCodeAt(at);
    count += code === LINE_FEED || code === CARRIAGE_RETURN ? 1 : 0;
  }
  return count;
}
