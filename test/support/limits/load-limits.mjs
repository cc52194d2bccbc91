import { readdir } from 'node:fs/promises';

// Preloaded with `--import` before the built service. Applies limits in the environment, as `overrideLimits` does in a
// test process. Shells drop variables with a dot in their name, so TEST_LIMITS may contain the limits as JSON.
const given = { ...process.env, ...JSON.parse(process.env['TEST_LIMITS'] ?? '{}') };
const wanted = Object.entries(given).filter(([name]) => /^\w+Limits\.\w+$/.test(name));
if (wanted.length > 0) {
  const dist = new URL('../../../dist/src/', import.meta.url);
  const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.limits.js'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, dist).href)));
  const all = Object.assign({}, ...modules);
  for (const [name, text] of wanted) {
    const [group, limit] = name.split('.');
    const defaultValue = all[group]?.[limit];
    if (defaultValue === undefined) {
      throw new Error(`Unknown limit "${name}".`);
    }
    const list = Array.isArray(defaultValue) ? text.split(',') : text;
    all[group][limit] = typeof defaultValue === 'number' ? Number(text) : list;
  }
}
