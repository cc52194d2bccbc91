/** Mark on an element of a diagram. */
export interface Mark {
  /** Id of the element in the BPMN file. */
  elementId: string;
  /** CSS classes, such as `is-passed`, `is-active` or `is-stopped`. */
  className: string;
  /** Short text next to the element, such as a count. */
  text?: string;
  /** Tooltip of the text. */
  title?: string;
}
