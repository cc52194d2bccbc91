import { z } from 'zod';
import { flag, integer } from './setting-rules.js';

/** Settings of application packages, which are delivered from outside and therefore bounded in every direction. */
export const packageSettings = {
  PACKAGE_MAX_BYTES: integer(1_024, 16_777_216, 8_388_608).describe(
    'Largest application package, as one JSON document.',
  ),
  PACKAGE_MAX_PROCESSES: integer(1, 10_000, 200).describe('BPMN files of one package at the most.'),
  PACKAGE_MAX_SYSTEMS: integer(1, 10_000, 200).describe('Systems of one package at the most.'),
  PACKAGE_MAX_WORKFLOWS: integer(1, 10_000, 200).describe('Workflows of one package at the most.'),
  PACKAGE_MAX_WORKFLOW_NODES: integer(2, 10_000, 500).describe('Nodes of one workflow at the most.'),
  PACKAGE_MAX_LIBRARIES: integer(0, 1_000, 50).describe('Library builds that one package names at the most.'),
  PACKAGE_MAX_LIBRARY_USERS: integer(0, 10_000, 500).describe(
    'Applications that one package lets use its builds as a library (usableBy) at the most.',
  ),
  LIBRARY_CONSENT_AT_CALLS: flag(false).describe(
    'Whether each call into a library asks for the consent of its owner (usableBy of its newest build), not only the delivery and the build.',
  ),
  PACKAGE_MAX_SCHEMA_BYTES: integer(256, 1_048_576, 65_536).describe(
    'Size of one JSON Schema in a package, as JSON.',
  ),
  PACKAGE_MAX_PROBLEMS: integer(1, 10_000, 500).describe(
    'Problems of one package that are told at once; the rest is left out.',
  ),
  PACKAGE_CHECK_THREADS: integer(1, 16, 1).describe(
    'Worker threads that check packages, one at a time each.',
  ),
  PACKAGE_CHECK_QUEUE: integer(0, 1_000, 20).describe(
    'Packages that wait for such a thread at the most; others get 503. Each holds up to PACKAGE_MAX_BYTES.',
  ),
  PACKAGE_CHECK_WAIT_MS: integer(0, 600_000, 60_000).describe(
    'Longest wait for such a thread, in milliseconds; then the answer is 503.',
  ),
  PACKAGE_CHECK_TIMEOUT_MS: integer(1_000, 600_000, 60_000).describe(
    'Longest reading, and longest check, of one package in its thread, in milliseconds.',
  ),
  PACKAGE_CHECK_MEMORY_MB: integer(64, 8_192, 512).describe('Heap of each of these threads.'),
  PACKAGE_CHECK_NICENESS: integer(0, 19, 5).describe(
    'How far these threads stand back for callers (nice, Linux only); each delivery has a caller that waits.',
  ),
  BUILD_COMPARISONS: integer(1, 16, 1).describe(
    'Builds that one replica compares with the active ones at a time.',
  ),
  BUILD_COMPARISON_QUEUE: integer(0, 1_000, 20).describe(
    'Builds that wait for their comparison at the most; others get 503.',
  ),
  BUILD_COMPARISON_WAIT_MS: integer(0, 600_000, 60_000).describe(
    'Longest wait for a comparison, in milliseconds; then the answer is 503.',
  ),
  DELIVER_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe('Bearer token of npm run deliver; --token would show it to other users of the machine.'),
  SVC_URL: z.string().min(1).optional().describe('Address of the service that the command line svc means.'),
  SVC_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe('Bearer token of the command line svc; --token would show it to other users of the machine.'),
};
