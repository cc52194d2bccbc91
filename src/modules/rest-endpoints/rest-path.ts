/** Decoded once more than a server and a proxy before it are likely to. */
const MAX_ROUNDS = 3;
const ASCII_ESCAPES = /%(25|2e|2f|5c|3b|0[\da-f]|1[\da-f]|7f)/gi;
/** Control characters, also those beyond ASCII in UTF-8 (U+0080 to U+009F). */
const CONTROLS = /\p{Cc}|%c2%[89][\da-f]/iu;

/**
 * Whether a URL, as it will be sent, stays below a base URL for everyone on the way, however far they decode its path: no
 * segment that leads upwards, also behind encoded slashes and path parameters (`..;`), and no backslash or control character,
 * which some take for a slash or drop.
 * @param base without query; its path ends at a border between segments
 * @param path what was put behind the path of `base`, before any parser has seen it; a blank in a value is encoded there
 */
export function staysBelow(base: URL, url: URL, path: string): boolean {
  const root = base.pathname.replace(/\/$/, '');
  const isBelow = url.pathname === root || url.pathname.startsWith(`${root}/`);
  const ways = [path, url.pathname.slice(root.length)].map(decoded);
  return url.origin === base.origin && isBelow && !path.includes(' ') && ways.every(isPlain);
}

function decoded(path: string): string {
  let text = path;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    text = text.replace(ASCII_ESCAPES, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  }
  return text;
}

function isPlain(path: string): boolean {
  const leadsUpwards = path.split('/').some((segment) => /^\.{1,2}(;|$)/.test(segment));
  return !leadsUpwards && !path.includes('\\') && !CONTROLS.test(path);
}
