import { z } from 'zod';
import { applicationSchema } from './application.schema.js';
import { fileRule } from './rules.js';
import { systemSchema } from './system.schema.js';
import { workflowSchema } from './workflow.schema.js';

/** `processes/*.bpmn` of a package, with the text of the file in the one-document form. */
export const processFileSchema = z
  .strictObject({
    file: fileRule('processes', 'bpmn').describe('Path in the folder.'),
    bpmn: z.string().min(1).describe('BPMN 2.0 XML, stored unchanged.'),
  })
  .meta({ id: 'ProcessFile', description: 'A BPMN file: processes/*.bpmn.' });

/** A package as one document. */
export const packageSchema = z
  .strictObject({
    $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
    application: applicationSchema,
    systems: z.array(systemSchema).default([]).describe('Systems of the version.'),
    workflows: z.array(workflowSchema).default([]).describe('Workflows of the version.'),
    processes: z.array(processFileSchema).default([]).describe('Files with process definitions.'),
  })
  .meta({ description: 'An application package as one JSON document.' });
