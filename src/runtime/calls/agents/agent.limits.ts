/** Limits of Custom Agent nodes. */
export const agentLimits = {
  /** Model answers per agent, including repairs. */
  iterations: 15,
  /** Timeout of one tool call in milliseconds. */
  toolTimeoutMs: 30_000,
  /** Milliseconds that one agent may take; the run has its own `deadlineMs`. */
  deadlineMs: 300_000,
  /** Maximum number of repair requests to the model after answers that do not match the schema. */
  repairs: 2,
  /** Tokens that one agent may use, as reported by the model, or estimated at four characters each. */
  tokens: 200_000,
  /** Maximum bytes of one tool result; a larger one is replaced with an error for the model. */
  resultBytes: 65_536,
  /** Maximum number of tools of one agent. */
  tools: 128,
  /** Maximum bytes of the tool definitions of one agent as JSON, which are part of every model request. */
  toolsBytes: 524_288,
  /** Maximum number of tool calls in one model answer; further calls are not made, and the model is informed. */
  callsPerTurn: 8,
  /** Maximum bytes of the prompt with its process data: `inputBody` and the references of the prompt. */
  inputBytes: 262_144,
};
