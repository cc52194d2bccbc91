import { flag } from './setting-rules.js';

/** Settings of application packages, which are delivered from outside and therefore bounded in every direction. */
export const packageSettings = {
  LIBRARY_CONSENT_AT_CALLS: flag(false).describe(
    'Whether each call into a library asks for the consent of its owner (usableBy of its newest build), not only the delivery and the build.',
  ),
};
