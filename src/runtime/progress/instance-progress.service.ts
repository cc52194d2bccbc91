import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { callerHash, type Principal } from '../../platform/user/principal.js';
import { Bulkhead } from '../../platform/concurrency/bulkhead.js';
import { Clock } from '../../platform/clock.js';
import { ForbiddenError, NotFoundError, UnauthorizedError } from '../../platform/errors/domain.error.js';
import { type ProgressRequest, type ProgressSink, InstanceStream } from './instance-stream.js';
import { ReplicaStoppingError, StopGate } from '../../platform/http/stop-gate.js';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import type { Limit } from '../../platform/config/env.js';
import { TooManyProgressStreamsError } from '../model/process-runtime.errors.js';
import { InstanceAccessService } from '../access/instance-access.service.js';
import { ALL_LISTS } from '../model/instance.params.dto.js';
import { ProcessInstancesService } from '../reading/process-instances.service.js';
import { StepNotices } from '../steps/step-notices.js';
import { hasEnded } from '../steps/instance-status.js';
import { processLimits } from '../process.limits.js';

const EVENTS_PER_READ = 100;
const MILLISECONDS = 1_000;
/** Errors that end a stream when its request is checked again. */
const ENDING_ERRORS = [UnauthorizedError, ForbiddenError, NotFoundError];

/** Sends the progress of instances to connections: steps of this replica immediately, those of other replicas by polling. */
@Injectable()
export class InstanceProgressService implements OnModuleInit, OnModuleDestroy {
  /** The open connections of this replica. */
  private readonly streams = new Set<InstanceStream>();
  private readonly totalLimit: Limit = { name: 'followers', max: processLimits.followers };
  private readonly callerLimit: Limit = {
    name: 'followers-per-caller',
    max: processLimits.followersPerCaller,
  };
  private readonly perCaller = new Bulkhead({ capacity: processLimits.followersPerCaller });
  private isStopping = false;
  private unlisten: (() => void) | undefined;
  private polling: NodeJS.Timeout | undefined;

  constructor(
    private readonly instances: ProcessInstancesService,
    private readonly access: InstanceAccessService,
    private readonly notices: StepNotices,
    private readonly clock: Clock,
    private readonly gate: StopGate,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.limits.show(this.totalLimit, () => ({ all: this.streams.size }));
    this.metrics.limits.show(this.callerLimit, () => this.perCaller.use);
    this.gate.whenClosed(() => this.endAll());
    this.unlisten = this.notices.listen((instanceId) =>
      this.wake((stream) => stream.instanceId === instanceId),
    );
  }

  onModuleDestroy(): void {
    this.unlisten?.();
    clearTimeout(this.polling);
    this.endAll();
  }

  /** Checks that another stream may be opened. @throws TooManyProgressStreamsError, ReplicaStoppingError */
  requireFreeStream(principal: Principal): void {
    if (this.isStopping) {
      throw new ReplicaStoppingError();
    }
    if (this.perCaller.occupied(callerHash(principal)) >= this.callerLimit.max) {
      throw new TooManyProgressStreamsError(this.callerLimit);
    }
    if (this.streams.size >= this.totalLimit.max) {
      throw new TooManyProgressStreamsError(this.totalLimit);
    }
  }

  /**
   * Sends the current state, or with `Last-Event-ID` the events since then, and then every new event until the instance
   * ends, the caller may no longer read it or `followSeconds` have passed.
   * @returns function to call when the connection closes; null if no events are left, in which case nothing was sent
   * @throws ProcessInstanceNotFoundError, TooManyProgressStreamsError
   */
  async follow(
    principal: Principal,
    request: ProgressRequest,
    sink: ProgressSink,
  ): Promise<(() => void) | null> {
    const { uuid, lastEventId } = request;
    const known = parseEventNumber(lastEventId);
    const first = await this.instances.get(principal, uuid, ALL_LISTS);
    const last = first.history?.[0]?.seq ?? 0;
    if (known !== undefined && known >= last && hasEnded(first.state)) {
      return null;
    }
    this.requireFreeStream(principal);
    const place = this.perCaller.enter({ key: callerHash(principal) });
    const stream = new InstanceStream(
      first.instanceMetadata.processInstanceId,
      sink,
      (one) => this.pump(one, uuid),
      (one) => {
        this.streams.delete(one);
        place.leave();
      },
    );
    this.streams.add(stream);
    stream.timers.push(...this.timers(stream, request));
    stream.seq = Math.min(known ?? last, last);
    // Sends the headers now, since the first event may be a long time away.
    stream.beat();
    if (known === undefined) {
      await stream.send('instance', last, first);
    }
    stream.wake();
    this.poll();
    return () => stream.end();
  }

  /** Ends all streams and refuses new ones; a server waits for its connections before it stops. */
  private endAll(): void {
    this.isStopping = true;
    [...this.streams].forEach((stream) => stream.end());
  }

  private timers(stream: InstanceStream, request: ProgressRequest): NodeJS.Timeout[] {
    const life = processLimits.followSeconds * MILLISECONDS;
    const left = Math.max(0, Math.min(life, request.expiresAt - this.clock.now().getTime()));
    const beat = processLimits.heartbeatSeconds * MILLISECONDS;
    return [setTimeout(() => stream.end(), left), setInterval(() => void this.beat(stream, request), beat)];
  }

  /** Sends a heartbeat, or ends the stream if its request would now be refused. Failures of the database or issuer do not end it. */
  private async beat(stream: InstanceStream, request: ProgressRequest): Promise<void> {
    try {
      await this.access.requireReadable(await request.recheck(), request.uuid);
    } catch (error) {
      if (ENDING_ERRORS.some((kind) => error instanceof kind)) {
        stream.end();
        return;
      }
    }
    stream.beat();
  }

  private async pump(stream: InstanceStream, uuid: string): Promise<boolean> {
    const [now] = await this.instances.revisions([stream.instanceId]);
    for (let hasMore = true; hasMore;) {
      const { events, next } = await this.instances.history(uuid, {
        after: stream.seq,
        limit: EVENTS_PER_READ,
      });
      for (const event of events) {
        await stream.send('history', event.seq, event);
        stream.seq = event.seq;
      }
      hasMore = next !== null;
    }
    stream.rev = now?.rev ?? 0;
    if (now === undefined || !hasEnded(now.state)) {
      return now !== undefined;
    }
    await stream.send('end', stream.seq, { uuid, state: now.state });
    return false;
  }

  /** Schedules the next check for steps of other replicas. */
  private poll(): void {
    if (this.polling === undefined && this.streams.size > 0 && !this.isStopping) {
      this.polling = setTimeout(() => void this.checkRevisions(), processLimits.progressPollMs);
    }
  }

  /** Finds changed instances with one query for all streams. */
  private async checkRevisions(): Promise<void> {
    try {
      const ids = [...new Set([...this.streams].map(({ instanceId }) => instanceId))];
      const revisions = await this.instances.revisions(ids);
      const byId = new Map(revisions.map(({ id, rev }) => [id, rev]));
      this.wake((stream) => byId.get(stream.instanceId) !== stream.rev);
    } catch {
      // Other requests report that the database is unavailable; the next check follows soon.
    }
    this.polling = undefined;
    this.poll();
  }

  private wake(matches: (stream: InstanceStream) => boolean): void {
    [...this.streams].filter(matches).forEach((stream) => stream.wake());
  }
}

/** Parses `Last-Event-ID`; returns undefined if it is not an event number. */
function parseEventNumber(lastEventId = ''): number | undefined {
  return /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}
