/** Limits of Custom Agent nodes. */
export const agentLimits = {
  /** Model answers per agent, including repairs. */
  iterations: 15,
  /** Milliseconds that one agent may take; the run has its own `deadlineMs`. */
  deadlineMs: 300_000,
  /** Maximum number of repair requests to the model after answers that do not match the schema. */
  repairs: 2,
  /** Tokens that one agent may use, as reported by the model, or estimated at four characters each. */
  tokens: 200_000,
  /** Maximum number of tools of one agent. */
  tools: 128,
  /** Maximum bytes of the tool definitions of one agent as JSON, which are part of every model request. */
  toolsBytes: 524_288,
  /** Maximum number of tool calls in one model answer; further calls are not made, and the model is informed. */
  callsPerTurn: 8,
  /** Maximum bytes of the prompt with its process data: `inputBody` and the references of the prompt. */
  inputBytes: 262_144,
};
