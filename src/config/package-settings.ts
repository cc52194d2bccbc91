import { z } from 'zod';
import { integer } from './setting-rules.js';

/** Settings of application packages, which are delivered from outside and therefore bounded in every direction. */
export const packageSettings = {
  PACKAGE_MAX_BYTES: integer(1_024, 67_108_864, 8_388_608).describe(
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
  PACKAGE_MAX_SCHEMA_BYTES: integer(256, 1_048_576, 65_536).describe(
    'Size of one JSON Schema in a package, as JSON.',
  ),
  PACKAGE_MAX_PROBLEMS: integer(1, 10_000, 500).describe(
    'Problems of one package that are told at once; the rest is left out.',
  ),
  DELIVER_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe('Bearer token of npm run deliver; --token would show it to other users of the machine.'),
};
