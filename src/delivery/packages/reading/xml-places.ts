/** Position and name of an element in a file. */
export interface XmlPlace {
  /** Line of its opening tag, starting at 1. */
  line: number;
  name: string | undefined;
}

/** Comments, CDATA, and attributes called `id`. */
const IDS = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|\sid\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const NAME = /\sname\s*=\s*(?:"([^"]*)"|'([^']*)')/;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
const TAG_MAX_LENGTH = 2_000;
const NAME_MAX_LENGTH = 80;
const MAX_CODE_POINT = 0x10_ff_ff;
const FIRST_HALF = 0xd8_00;
const LAST_HALF = 0xdf_ff;
/** First half of a surrogate pair, which cut text must not end with. */
const HALF = /[\ud800-\udbff]$/;

/**
 * Finds lines and names of elements by their ids, for messages. Scans the text once.
 * @param xml need not be well-formed
 */
export function xmlPlaces(xml: string, ids: ReadonlySet<string>): ReadonlyMap<string, XmlPlace> {
  const found = new Map<string, XmlPlace>();
  const lines = { counted: 1, upTo: 0 };
  for (const match of xml.matchAll(IDS)) {
    const id = match[1] ?? match[2];
    if (id !== undefined && ids.has(id) && !found.has(id)) {
      const start = xml.lastIndexOf('<', match.index);
      for (let at = xml.indexOf('\n', lines.upTo); at !== -1 && at < start; at = xml.indexOf('\n', at + 1)) {
        lines.counted += 1;
        lines.upTo = at + 1;
      }
      found.set(id, { line: lines.counted, name: nameIn(xml, start) });
    }
  }
  return found;
}

function nameIn(xml: string, start: number): string | undefined {
  const end = xml.indexOf('>', start);
  const tag = xml.slice(start, Math.min(end === -1 ? xml.length : end, start + TAG_MAX_LENGTH));
  const match = NAME.exec(tag);
  const name = decodedText(match?.[1] ?? match?.[2] ?? '');
  return name === '' ? undefined : name.slice(0, NAME_MAX_LENGTH).replace(HALF, '');
}

function decodedText(text: string): string {
  const plain = text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi,
    (whole: string, decimal?: string, hex?: string, entity?: string) => {
      const code = Number(decimal ?? `0x${hex ?? ''}`);
      return (entity === undefined ? character(code) : ENTITIES.get(entity)) ?? whole;
    },
  );
  return plain.replaceAll(/\s+/g, ' ').trim();
}

/** Returns the character for a code point, or undefined for half of a surrogate pair and codes out of range. */
function character(code: number): string | undefined {
  const isOne = code <= MAX_CODE_POINT && (code < FIRST_HALF || code > LAST_HALF);
  return isOne ? String.fromCodePoint(code) : undefined;
}
