import type { EngineIncident } from '../engine/state/engine.errors.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import type { LoadedInstance } from './step.types.js';

/** A step that the engine stopped; all of it was rolled back. */
export class FailedStepError extends Error {
  override readonly name = 'FailedStepError';
  readonly instanceId: number;
  readonly instanceUuid: string;
  /** Token and visit that stand where they stood; null when it is about the whole instance. */
  readonly tokenId: number | null;
  readonly visit: number | null;
  readonly definition: RunnableDefinition;

  constructor(
    readonly incident: EngineIncident,
    { row, state, definition }: LoadedInstance,
    command: EngineCommand,
  ) {
    super(incident.message, { cause: incident });
    this.instanceId = row.id;
    this.instanceUuid = row.uuid;
    this.definition = definition;
    // The engine may have stopped a token that the step had only just made.
    const asked = 'tokenId' in command ? command.tokenId : null;
    const token = state.tokens.get(asked ?? -1) ?? state.tokens.get(incident.tokenId ?? -1);
    this.tokenId = token?.id ?? null;
    this.visit = token?.visit ?? null;
  }
}
