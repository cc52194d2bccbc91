/** Arguments of Node by which a built service takes limits from its environment: `of-process.mjs`. */
export const TAKES_LIMITS = ['--import', new URL('of-process.mjs', import.meta.url).href];
