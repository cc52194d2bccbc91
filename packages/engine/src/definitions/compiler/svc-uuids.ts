import { v5, validate } from 'uuid';
import type { Values } from '../draft/values.js';

/** Namespace of derived uuids. It must never change. */
const NAMESPACE = '5b0c4f5e-6d0e-5e0a-9a43-2f1b7a6c1d90';

/**
 * Assigns the parts of a process uuids that stay the same in later versions: `svc:uuid` if the model has one, otherwise a uuid derived
 * (RFC 9562, version 5) from application, process, node and action.
 */
export class SvcUuids {
  private readonly used = new Set<string>();

  constructor(
    private readonly appId: string,
    private readonly processKey: string,
  ) {}

  ofProcess(): string {
    return this.derive('process');
  }

  ofNode(nodeKey: string): string {
    return this.derive('node', nodeKey);
  }

  ofAction(nodeKey: string, name: string): string {
    return this.derive('action', nodeKey, name);
  }

  ofUiAction(nodeKey: string, name: string): string {
    return this.derive('ui-action', nodeKey, name);
  }

  /** Returns the uuid in the model; undefined if missing or invalid. */
  given(values: Values): string | undefined {
    const uuid = values.text('uuid')?.toLowerCase();
    if (uuid === undefined) {
      return undefined;
    }
    if (!validate(uuid)) {
      values.error('INVALID_UUID', `svc:uuid must be a UUID, not "${uuid.slice(0, 80)}".`);
      return undefined;
    }
    if (this.used.has(uuid)) {
      values.error('DUPLICATE_UUID', `The uuid ${uuid} is used twice in this process.`);
    }
    this.used.add(uuid);
    return uuid;
  }

  private derive(...names: string[]): string {
    return v5(JSON.stringify([this.appId, this.processKey, ...names]), NAMESPACE);
  }
}
