/** Reason why a process cannot be drawn. */
export type DiagramFault =
  | { kind: 'large'; nodes: number; most: number }
  | { kind: 'tangled' }
  | { kind: 'noProcess' }
  | { kind: 'unreadable' };

/** Thrown when a BPMN file without a diagram cannot be laid out, or its diagram cannot be read. */
export class DiagramError extends Error {
  override readonly name = 'DiagramError';

  constructor(
    readonly fault: DiagramFault,
    options?: ErrorOptions,
  ) {
    super(fault.kind, options);
  }
}
