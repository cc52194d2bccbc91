import type { ModdleReader, ModdleWarning, ReadContext, RootHandler } from 'bpmn-moddle';

/** What finding the places of faults may cost for one file, in characters that are looked at. */
const MAX_WORK = 100_000_000;
/** A line break costs as much as so many characters. */
const LINE_BREAK_WORK = 100;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** A file has more faults than are worth their places. */
export class TooManyFaultsError extends Error {
  override readonly name = 'TooManyFaultsError';
  constructor(
    /** The faults until then. */
    readonly warnings: readonly ModdleWarning[],
  ) {
    super();
  }
}

/**
 * Options that make the reader give up with TooManyFaultsError. For each fault that has a place in the text, the parser
 * underneath counts lines from the beginning of the file. Without a limit, a file full of faults takes minutes.
 */
export function limitedFaults(xml: string): object {
  let left = Math.ceil(MAX_WORK / (xml.length + LINE_BREAK_WORK * lineBreaksOf(xml) + 1));
  return {
    handler(this: ModdleReader, type: string): RootHandler {
      const root = (Object.getPrototypeOf(this) as ModdleReader).handler.call(this, type);
      let context: ReadContext | undefined;
      // The context of one reading first shows itself here.
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
