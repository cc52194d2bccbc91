import { Injectable } from '@nestjs/common';

type Listener = (instanceId: number) => void;

/** Tells this replica which instances it has just changed, for those who follow them. */
@Injectable()
export class InstanceSignals {
  private readonly listeners = new Set<Listener>();

  /** @returns function that ends it */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** To be called after the commit. */
  changed(instanceId: number): void {
    this.listeners.forEach((listener) => listener(instanceId));
  }
}
