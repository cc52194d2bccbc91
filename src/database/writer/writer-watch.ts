import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'mysql2';
import type { DatabaseHost } from '../../config/database-url.js';
import { HostProbe, type HostState } from './host-probe.js';
import { WriterCheck } from './writer-check.js';

/** Hosts of one database, and how they are watched. */
export interface WriterRules {
  hosts: readonly DatabaseHost[];
  /** Between two looks at a host, milliseconds. */
  everyMs: number;
  /** Longest time of one look. */
  silenceMs: number;
}

/** Which host takes the writes now; undefined while none does. */
export interface WriterChange {
  writer: DatabaseHost | undefined;
  /** Whether the one before answers nothing any more, so that what it was asked will have no answer. */
  isFormerSilent: boolean;
}

/** A host as it was last seen. */
export interface SeenHost {
  /** Undefined until the first look. */
  state: HostState | undefined;
  /** When it began to take writes, as counted by this replica. */
  since: number;
}

interface WatchedHost extends SeenHost {
  place: DatabaseHost;
  probe: HostProbe;
  check: WriterCheck;
}

/** Finds the host that takes the writes, and follows it when another one takes over. */
export class WriterWatch {
  private readonly hosts: readonly WatchedHost[];
  private current: WatchedHost | undefined;
  private changedAt = Number.NEGATIVE_INFINITY;
  private count = 0;
  private isEnded = false;

  /** @param options credentials and TLS of the connections */
  constructor(
    private readonly rules: WriterRules,
    options: ConnectionOptions,
    private readonly onChange: (change: WriterChange) => void,
  ) {
    this.hosts = rules.hosts.map((place) => {
      const ofHost = { ...options, ...place };
      const probe = new HostProbe(ofHost, rules.silenceMs);
      return { place, probe, check: new WriterCheck(ofHost, rules.silenceMs), state: undefined, since: 0 };
    });
    this.hosts.forEach((host) => void this.follow(host));
  }

  get writer(): DatabaseHost | undefined {
    return this.current?.place;
  }

  /** Why no host can be had, where waiting mends nothing: each of them refuses us. */
  get refusal(): Error | undefined {
    const errors = this.hosts.map(({ state }) => (state?.kind === 'REFUSED' ? state.error : undefined));
    return errors.every((error) => error !== undefined) ? errors[0] : undefined;
  }

  /** Whoever waits for a host shall not wait any longer. */
  private get isHopeless(): boolean {
    return this.current === undefined && this.refusal !== undefined;
  }

  /**
   * Whether the host that takes the writes is the one that did at a moment. It is asked now: between two looks it can lose its part, and
   * answers what it last knew.
   * @param since on the clock of `performance.now()`
   */
  async isSince(since: number): Promise<boolean> {
    const { current: host } = this;
    return (
      host !== undefined && this.changedAt < since && (await host.check.isWriter()) && this.current === host
    );
  }

  end(): void {
    this.isEnded = true;
    this.hosts.forEach(({ probe, check }) => {
      probe.end();
      check.end();
    });
  }

  private async follow(host: WatchedHost): Promise<void> {
    while (!this.isEnded) {
      const state = await host.probe.look();
      if (this.isEnded) {
        host.probe.end();
      } else {
        this.note(host, state);
        await sleep(this.rules.everyMs, undefined, { ref: false });
      }
    }
  }

  private note(host: WatchedHost, state: HostState): void {
    if (state.kind === 'WRITER' && host.state?.kind !== 'WRITER') {
      this.count += 1;
      host.since = this.count;
    }
    host.state = state;
    const former = this.current;
    this.current = chosenWriter(this.hosts, former);
    if (this.current !== former) {
      this.changedAt = performance.now();
    }
    if (this.current !== former || this.isHopeless) {
      this.onChange({ writer: this.writer, isFormerSilent: isOutOfReach(former) });
    }
  }
}

/**
 * Which host is the writer.
 * - In a replication group: whom most members name, and of two the one that became it later. A member that was cut off or stopped
 *   can take itself for the primary for a moment longer.
 * - Else the one that was it, for as long as it does not say otherwise; when it is silent, the only other one that takes writes.
 * - Where several take writes and none was chosen before, nobody is: the wrong one would split the data.
 */
export function chosenWriter<Host extends SeenHost>(
  hosts: readonly Host[],
  former: Host | undefined,
): Host | undefined {
  const writers = hosts.filter(({ state }) => state?.kind === 'WRITER');
  const [primary] = writers
    .filter(({ state }) => primaryOf(state) !== null)
    .toSorted((one, other) => votes(hosts, other) - votes(hosts, one) || other.since - one.since);
  if (primary !== undefined) {
    return primary;
  }
  if (former !== undefined && (writers.includes(former) || (writers.length === 0 && isUnclear(former)))) {
    return former;
  }
  return writers.length === 1 && hosts.every(({ state }) => state !== undefined) ? writers[0] : undefined;
}

function isOutOfReach(host: SeenHost | undefined): boolean {
  return host?.state?.kind === 'SILENT' || host?.state?.kind === 'AWAY';
}

function primaryOf(state: HostState | undefined): string | null {
  return state?.kind === 'WRITER' || state?.kind === 'CLOSED' ? state.primary : null;
}

function votes(hosts: readonly SeenHost[], { state }: SeenHost): number {
  const primary = primaryOf(state);
  return hosts.filter((host) => primaryOf(host.state) === primary).length;
}

/** Nothing says that it takes no writes any more. */
function isUnclear({ state }: SeenHost): boolean {
  return state?.kind === 'SILENT' || state?.kind === 'REFUSED';
}
