import { readdir } from 'node:fs/promises';

// Loaded by `--import` before the built service: limits that stand among its settings, as `holdLimits` has them in this process.
// A shell drops names with a dot: TEST_LIMITS holds them once more, as JSON.
const given = { ...process.env, ...JSON.parse(process.env['TEST_LIMITS'] ?? '{}') };
const wanted = Object.entries(given).filter(([name]) => /^\w+Limits\.\w+$/.test(name));
if (wanted.length > 0) {
  const dist = new URL('../../../dist/src/', import.meta.url);
  const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.limits.js'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, dist).href)));
  const all = Object.assign({}, ...modules);
  for (const [name, text] of wanted) {
    const [of, limit] = name.split('.');
    const like = all[of]?.[limit];
    if (like === undefined) {
      throw new Error(`there is no limit ${name}`);
    }
    all[of][limit] = typeof like === 'number' ? Number(text) : Array.isArray(like) ? text.split(',') : text;
  }
}
