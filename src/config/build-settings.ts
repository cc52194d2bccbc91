import { integer } from './setting-rules.js';

/** Settings of builds. */
export const buildSettings = {
  DEFINITION_CACHE_ENTRIES: integer(1, 1_000_000, 1_000).describe(
    'Process definitions of builds that are kept in memory.',
  ),
  DEFINITION_CACHE_BYTES: integer(1_024, 4_294_967_296, 67_108_864).describe(
    'Size of these definitions as JSON, in memory several times as much; workflows of builds have as much again.',
  ),
};
