import { Injectable } from '@nestjs/common';
import { RedisService } from '../../../common/redis/redis.service.js';
import type { ReplicaSignals } from '../../../common/redis/replica-signals.js';

type Listener = (instanceId: number) => void;

/** Tells this replica, and others that share Redis, which instances it has just changed, for those who follow them. */
@Injectable()
export class InstanceSignals {
  private readonly listeners = new Set<Listener>();

  private readonly ofReplicas: ReplicaSignals | undefined;

  constructor({ shared }: RedisService) {
    this.ofReplicas = shared?.signals;
    this.ofReplicas?.listen('instance', (ids) => ids.forEach((id) => this.tell(Number(id))));
  }

  /** @returns function that ends it */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** To be called after the commit. */
  changed(instanceId: number): void {
    this.tell(instanceId);
    this.ofReplicas?.tell('instance', String(instanceId));
  }

  private tell(instanceId: number): void {
    this.listeners.forEach((listener) => listener(instanceId));
  }
}
