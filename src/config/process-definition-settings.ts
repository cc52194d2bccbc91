import { integer } from './setting-rules.js';

/** Settings of process definitions, which come from outside and are therefore bounded. */
export const processDefinitionSettings = {
  PROCESS_MAX_XML_BYTES: integer(1_024, 16_777_216, 1_048_576).describe('Largest BPMN file.'),
  PROCESS_MAX_NODES: integer(1, 10_000, 2_000).describe('Events, activities and gateways of one process.'),
  PROCESS_MAX_NESTING: integer(1, 50, 20).describe('Levels of one process, embedded subprocesses included.'),
};
