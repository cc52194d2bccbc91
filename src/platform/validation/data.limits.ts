/** Limits of the data of a process instance and of responses of outside parties. */
export const dataLimits = {
  /** Maximum bytes of the data of one process instance, as JSON. */
  bytes: 1_048_576,
  /**
   * Maximum number of values, nested ones included, in the data of one process instance or workflow run and in one JSON
   * response of a REST system; also the maximum number of commas and opening brackets in one response of a tool or a
   * model.
   */
  values: 50_000,
};
