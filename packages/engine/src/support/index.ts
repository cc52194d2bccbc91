export { cached, groupedBy } from './cached.js';
export { addDuration, parseCycle, parseDateTime, parseDuration } from './iso-8601.js';
export { didYouMean, nearestName } from './nearest-name.js';
export {
  type YieldingWork,
  runWithoutYielding,
  runInSlice,
  runAfterYield,
  runYielding,
  yieldEventLoop,
  yieldAfterSlice,
  nextIteration,
} from './yield-event-loop.js';
