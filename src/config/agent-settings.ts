import { z } from 'zod';
import { bareHttpUrl, integer } from './setting-rules.js';

/** Settings of Custom Agent nodes and of the language model that they ask. Whatever a model does is bounded. */
export const agentSettings = {
  LLM_BASE_URL: bareHttpUrl
    .optional()
    .describe(
      'Address of an OpenAI-compatible API up to its version, such as https://api.example.com/v1, without user information, query and fragment. With LLM_API_KEY it must be https unless on this machine. This address alone need not be in EGRESS_ALLOW. Without it Custom Agent nodes end in an incident.',
    ),
  LLM_MODEL: z.string().min(1).max(200).optional().describe('Name of the model that agents ask.'),
  LLM_API_KEY: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/, 'must be printable characters without blanks')
    .optional()
    .describe('Secret. Sent to LLM_BASE_URL as bearer token; nothing is sent without it.'),
  LLM_ANSWER_FORMAT: z
    .enum(['prompt', 'json_object', 'json_schema'], 'must be prompt, json_object or json_schema')
    .default('prompt')
    .describe(
      'How the form of the answer is asked for besides the instructions: not at all, or as response_format of one of these types, which not every model accepts.',
    ),
  AGENT_MAX_IMAGE_BYTES: integer(0, 67_108_864, 0).describe(
    'Bytes, as base64, of the images of tool results that one question to the model carries, the newest first. 0 for a model that does not see: it reads only their type and size.',
  ),
};
