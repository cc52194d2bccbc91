export {
  keyBeginnings,
  keyTree,
  omitKeys,
  parseKey,
  pickKeys,
  untakenPaths,
  writePath,
} from './data-keys.js';
export {
  type DataPath,
  InvalidDataError,
  InvalidDataPathError,
  type ChargeCopies,
  childOf,
  deepMerge,
  getPath,
  isPrototypeKey,
  mergePatch,
  parsePath,
  removePath,
  setPath,
} from './data-paths.js';
