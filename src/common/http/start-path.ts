/** Path of a process start (docs/contract.md, section 4.1). */
export const START_PATH = /\/process-name\/[^/]+\/start$/;
