/** Bounds of Custom Agent nodes: whatever a model does is bounded. */
export const agentLimits = {
  /** Answers of the model that one agent may ask for, repairs included. */
  iterations: 15,
  /** Milliseconds that one call of a tool may take. */
  toolTimeoutMs: 30_000,
  /** Milliseconds that one agent may take in all; `deadlineMs` bounds the run around it. */
  deadlineMs: 300_000,
  /** How often an agent may ask the model for another answer because one is not as the schema says. */
  repairs: 2,
  /** Tokens that one agent may use up in all, as the model counts them, or four characters each where it does not. */
  tokens: 200_000,
  /** Bytes of one result of a tool that the model is shown; it is told of a larger one, which is never cut. */
  resultBytes: 65_536,
  /** Tools that one agent may have. */
  tools: 128,
  /** Bytes of the definitions of the tools of one agent, as JSON: the model is sent them with each question. */
  toolsBytes: 524_288,
  /** Calls of tools that the model may ask for in one answer; the model is told of the others, which are not made. */
  callsPerTurn: 8,
  /** Bytes of the prompt of an agent and of the process data that go to the model with it: `inputBody` and the references of the prompt. */
  inputBytes: 262_144,
};
