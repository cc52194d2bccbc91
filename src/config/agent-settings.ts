import { z } from 'zod';
import { bareHttpUrl, integer } from './setting-rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;

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
  LLM_TIMEOUT_MS: integer(100, 30 * MINUTE_MS, MINUTE_MS).describe(
    'Milliseconds that one answer of the model may take, from the first byte sent to the last one read.',
  ),
  LLM_MAX_RESPONSE_BYTES: integer(1_024, 16_777_216, 1_048_576).describe(
    'Bytes that one answer of the model may have.',
  ),
  LLM_MAX_RETRIES: integer(0, 10, 3).describe(
    'How often a call of the model is repeated after 408, 409, 429, 5xx, a broken connection or an answer that cannot be read.',
  ),
  LLM_RETRY_BASE_MS: integer(1, MINUTE_MS, 500).describe(
    'Milliseconds before the first repetition where the model says nothing of its own (Retry-After); doubles with each.',
  ),
  LLM_RETRY_MAX_MS: integer(1, 10 * MINUTE_MS, 30 * SECOND_MS).describe(
    'Longest milliseconds before a repetition, also where the model asks for more.',
  ),
  LLM_TEMPERATURE: z
    .string()
    .regex(/^(1(\.\d{1,3})?|0(\.\d{1,3})?|2(\.0{1,3})?)$/, 'must be a number from 0 to 2')
    .transform(Number)
    .optional()
    .describe('Sent as temperature, from 0 to 2; the model decides without it.'),
  LLM_ANSWER_FORMAT: z
    .enum(['prompt', 'json_object', 'json_schema'], 'must be prompt, json_object or json_schema')
    .default('prompt')
    .describe(
      'How the form of the answer is asked for besides the instructions: not at all, or as response_format of one of these types, which not every model accepts.',
    ),

  AGENT_MAX_ITERATIONS: integer(1, 200, 15).describe(
    'Answers of the model that one agent may ask for, repairs included.',
  ),
  AGENT_TOOL_TIMEOUT_MS: integer(100, 30 * MINUTE_MS, 30 * SECOND_MS).describe(
    'Milliseconds that one call of a tool may take.',
  ),
  AGENT_DEADLINE_MS: integer(100, DAY_MS, 5 * MINUTE_MS).describe(
    'Milliseconds that one agent may take in all; WORKFLOW_DEADLINE_MS bounds the run around it.',
  ),
  AGENT_MAX_REPAIRS: integer(0, 20, 2).describe(
    'How often an agent may ask the model for another answer because one is not as the schema says.',
  ),
  AGENT_MAX_TOKENS: integer(100, 100_000_000, 200_000).describe(
    'Tokens that one agent may use up in all, as the model counts them, or four characters each where it does not.',
  ),
  AGENT_MAX_RESULT_BYTES: integer(256, 4_194_304, 65_536).describe(
    'Bytes of one result of a tool that the model is shown; it is told of a larger one, which is never cut.',
  ),
  AGENT_MAX_IMAGE_BYTES: integer(0, 67_108_864, 0).describe(
    'Bytes, as base64, of the images of tool results that one question to the model carries, the newest first. 0 for a model that does not see: it reads only their type and size.',
  ),
  AGENT_MAX_TOOLS: integer(1, 512, 128).describe('Tools that one agent may have.'),
  AGENT_MAX_TOOLS_BYTES: integer(1_024, 16_777_216, 524_288).describe(
    'Bytes of the definitions of the tools of one agent, as JSON: the model is sent them with each question.',
  ),
  AGENT_MAX_CALLS_PER_TURN: integer(1, 64, 8).describe(
    'Calls of tools that the model may ask for in one answer; the model is told of the others, which are not made.',
  ),
  AGENT_MAX_INPUT_BYTES: integer(1_024, 4_194_304, 262_144).describe(
    'Bytes of the prompt of an agent and of the process data that go to the model with it: `inputBody` and the references of the prompt.',
  ),
};
