/** Decoded once more than a server and a proxy before it are likely to. */
const MAX_ROUNDS = 3;
const BLANKS = /[\p{Cc} ]/u;
const UNRESERVED_ESCAPES = /%(25|2e|2f|5c|3b|0[\da-f]|1[\da-f]|7f)/gi;

/**
 * Whether a URL, as it will be sent, stays below a base URL for everyone on the way, however far they decode its path: no
 * segment that leads upwards, also behind encoded slashes, backslashes and path parameters (`..;`).
 * @param base without query; its path ends at a border between segments
 * @param path what was put behind the path of `base`, before any parser has seen it
 */
export function staysBelow(base: URL, url: URL, path: string): boolean {
  const root = base.pathname.replace(/\/$/, '');
  const isBelow = url.pathname === root || url.pathname.startsWith(`${root}/`);
  // Parsers take tabs and line ends out, and make slashes of backslashes.
  const isPlain = !BLANKS.test(path) && !path.includes('\\');
  const ways = [path, url.pathname.slice(root.length)];
  return url.origin === base.origin && isBelow && isPlain && !ways.some(leadsUpwards);
}

function leadsUpwards(path: string): boolean {
  let text = path;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    text = text.replace(UNRESERVED_ESCAPES, (escape) =>
      String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
    );
  }
  // Controls that were encoded are data, unless somebody drops them.
  const segments = text.replace(/\p{Cc}/gu, '').split(/[/\\]/);
  return segments.some((segment) => /^\.{1,2}(;|$)/.test(segment));
}
