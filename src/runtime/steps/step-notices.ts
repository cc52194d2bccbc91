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
 * Adds names and ids of an instance to the span of its step. Process data is never part of traces.
 * @param command command of the engine; undefined while it is unknown
 */
export function describeStepInSpan(
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
 * Reports committed steps to metrics, the log and readers that follow instances, on this replica and on others that share Redis.
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
    this.ofReplicas?.listen('instance', (ids) => ids.forEach((id) => this.notifyListeners(Number(id))));
    // Alerts on growth see the first incident only if the counter was 0 before.
    for (const source of INCIDENT_SOURCES) {
      INCIDENT_TYPES.forEach((type) => metrics.processIncidents.inc({ source, type }, 0));
    }
  }

  /** Calls the listener with the id of each changed instance. @returns function that removes the listener */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Reports a changed instance and its new incidents. */
  reportStep(instance: Stepped, raised: readonly IncidentHead[], warnings: readonly string[]): void {
    this.reportChange(instance.id);
    raised.forEach((incident) => this.reportIncident(instance, incident));
    this.logWarnings(instance, warnings);
  }

  reportIncident(instance: Stepped, { uuid: incident, source, type, node, element }: IncidentHead): void {
    const { uuid, appId: app, processName: process } = instance;
    this.metrics.processIncidents.inc({ source, type });
    const place = { app, process, element, code: type };
    this.log.warn('process incident', { instance: uuid, incident, source, type, node, ...place });
    this.reportChange(instance.id);
  }

  private reportChange(instanceId: number): void {
    this.notifyListeners(instanceId);
    this.ofReplicas?.publish('instance', String(instanceId));
  }

  private notifyListeners(instanceId: number): void {
    this.listeners.forEach((listener) => listener(instanceId));
  }

  /** Logs warnings that need no action. */
  private logWarnings(instance: { uuid: string }, warnings: readonly string[]): void {
    if (warnings.length > 0) {
      const first = warnings.slice(0, WARNINGS_LOGGED).join('; ');
      const fields = { instance: instance.uuid, count: warnings.length, warnings: first };
      this.log.warn('process step with warnings', fields);
    }
  }
}
