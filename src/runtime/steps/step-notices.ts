import { Injectable } from '@nestjs/common';
import { RedisService } from '../../platform/redis/redis.service.js';
import type { ReplicaSignals } from '../../platform/redis/replica-signals.js';
import { recordedSpan } from '../../platform/observability/tracing/spans.js';
import type { InstanceRow, InstanceHead } from '../storage/process-instance.entity.js';
import { Log } from '../../platform/observability/logging/log.js';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import { INCIDENT_SOURCES, INCIDENT_TYPES } from '#engine/tokens';
import type { IncidentHead } from '../storage/incidents.repository.js';

type Listener = (instanceId: number) => void;

/**
 * Tells the span of a step which instance it moves, by names and ids alone: data of an instance is no matter of traces.
 * @param command what the engine is given; undefined where it makes no step
 */
export function tellStep(
  { uuid, appId, buildId, definitionSvcUuid, depth }: InstanceRow,
  command: string | undefined,
): void {
  recordedSpan()?.setAttributes({
    'svc.app.id': appId,
    'svc.build.id': buildId,
    'svc.process.definition': definitionSvcUuid,
    'svc.process.instance': uuid,
    'svc.process.depth': depth,
    'svc.step.command': command,
  });
}

const WARNINGS_LOGGED = 5;

type Stepped = Pick<InstanceHead, 'id' | 'uuid' | 'appId' | 'processName'>;

/**
 * Tells readers, metrics and the log about a step once its transaction was committed. Readers of this replica, and of others that share
 * Redis, are told which instances have just changed.
 */
@Injectable()
export class StepNotices {
  private readonly listeners = new Set<Listener>();
  private readonly ofReplicas: ReplicaSignals | undefined;

  constructor(
    { shared }: RedisService,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    this.ofReplicas = shared?.signals;
    this.ofReplicas?.listen('instance', (ids) => ids.forEach((id) => this.tell(Number(id))));
    // Who watches a count for its growth sees the first one only where there was a 0 before.
    for (const source of INCIDENT_SOURCES) {
      INCIDENT_TYPES.forEach((type) => metrics.processIncidents.inc({ source, type }, 0));
    }
  }

  /** @returns function that ends it */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** An instance has changed, and incidents may have been raised. */
  committed(instance: Stepped, raised: readonly IncidentHead[], warnings: readonly string[]): void {
    this.changed(instance.id);
    raised.forEach((incident) => this.stopped(instance, incident));
    this.warned(instance, warnings);
  }

  stopped(instance: Stepped, { uuid: incident, source, type, node, element }: IncidentHead): void {
    const { uuid, appId: app, processName: process } = instance;
    this.metrics.processIncidents.inc({ source, type });
    const place = { app, process, element, code: type };
    this.log.warn('process incident', { instance: uuid, incident, source, type, node, ...place });
    this.changed(instance.id);
  }

  private changed(instanceId: number): void {
    this.tell(instanceId);
    this.ofReplicas?.tell('instance', String(instanceId));
  }

  private tell(instanceId: number): void {
    this.listeners.forEach((listener) => listener(instanceId));
  }

  /** What a step came across that nobody has to act on. */
  private warned(instance: { uuid: string }, warnings: readonly string[]): void {
    if (warnings.length > 0) {
      const first = warnings.slice(0, WARNINGS_LOGGED).join('; ');
      const fields = { instance: instance.uuid, count: warnings.length, warnings: first };
      this.log.warn('process step with warnings', fields);
    }
  }
}
