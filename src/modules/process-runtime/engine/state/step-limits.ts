/** Bounds of one step and of one instance. */
export interface StepLimits {
  /** Automatic nodes in one step; more continue in a CONTINUE job. */
  readonly nodesPerStep: number;
  /** Steps in succession that may reach that bound. */
  readonly continues: number;
  /** Live tokens of one instance. */
  readonly liveTokens: number;
  /** Items of one multi-instance collection. */
  readonly items: number;
  /** Bytes of process data as JSON. */
  readonly dataBytes: number;
  /** Values of process data, those inside of others included. */
  readonly dataValues: number;
  /** Work of all expressions and templates of one step, in the steps of `EXPRESSION_LIMITS`. */
  readonly expressionSteps: number;
  /** Return points kept. */
  readonly returnPoints: number;
}
