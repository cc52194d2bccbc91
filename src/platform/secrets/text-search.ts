/** Maximum length for `indexOf`, whose worst case is the product of both lengths. */
const SHORT = 64;

/** Returns the positions of all non-overlapping occurrences of a text in linear time. */
export function placesOf(wanted: string, text: string): number[] {
  return wanted.length <= SHORT ? shortPlaces(wanted, text) : longPlaces(wanted, text);
}

function shortPlaces(wanted: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    places.push(at);
  }
  return places;
}

/** Algorithm of Knuth, Morris and Pratt, "Fast pattern matching in strings" (1977). */
function longPlaces(wanted: string, text: string): number[] {
  const places: number[] = [];
  const first = text.indexOf(wanted.slice(0, SHORT));
  if (first === -1) {
    return places;
  }
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let index = first; index < text.length; index += 1) {
    matched = next(wanted, borders, { matched, code: text.charCodeAt(index) });
    if (matched === wanted.length) {
      places.push(index + 1 - matched);
      matched = 0;
    }
  }
  return places;
}

/** Returns, for each prefix of a text, the length of its longest proper prefix that is also a suffix. */
function bordersOf(wanted: string): Uint32Array {
  const borders = new Uint32Array(wanted.length + 1);
  for (let length = 1, border = 0; length < wanted.length; length += 1) {
    border = next(wanted, borders, { matched: border, code: wanted.charCodeAt(length) });
    borders[length + 1] = border;
  }
  return borders;
}

function next(
  wanted: string,
  borders: Uint32Array,
  { matched, code }: { matched: number; code: number },
): number {
  let length = matched;
  while (length > 0 && wanted.charCodeAt(length) !== code) {
    length = borders[length] ?? 0;
  }
  return wanted.charCodeAt(length) === code ? length + 1 : 0;
}
