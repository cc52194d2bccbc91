/** Bounds of the data that a process instance holds and an outside party answers. */
export const dataLimits = {
  /** Bytes of the data of one process instance, as JSON. */
  bytes: 1_048_576,
  /** Most values of the data of one process instance or workflow run and of one JSON answer of a REST system, those inside of others included; as many commas and opening brackets has one answer of a tool or a model. */
  values: 50_000,
};
