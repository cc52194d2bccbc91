/** What stands on an element of a diagram. */
export interface Mark {
  /** Id of the element in the BPMN file. */
  elementId: string;
  /** Names of classes, such as `is-passed`, `is-active` or `is-stopped`. */
  className: string;
  /** A short text beside it, such as a count. */
  text?: string;
  /** What the text means. */
  title?: string;
}
