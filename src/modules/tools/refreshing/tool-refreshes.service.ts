import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Log } from '../../../common/logging/log.js';
import { Database } from '../../../database/database.js';
import { SystemConnectionsService } from '../../systems/lookups/system-connections.service.js';
import { ToolReadingsService, type DueSystem } from '../../systems/lookups/tool-readings.service.js';
import { ConnectionTestService } from '../connection-tests/connection-test.service.js';

const MINUTE_MS = 60_000;
/** Servers that are asked in one round, and the time after which a round begins with no other. */
const SERVERS_PER_ROUND = 20;
const ROUND_MS = 30_000;
/** Intervals differ by up to this share, so that servers that were registered together are not asked together for ever. */
const JITTER = 0.1;

/**
 * Reads the lists of tools again, at an interval and after a server said that its list has changed. A system is due by a time in
 * its row, which an update decides. Not inside of a transaction.
 */
@Injectable()
export class ToolRefreshesService {
  constructor(
    private readonly readings: ToolReadingsService,
    private readonly connections: SystemConnectionsService,
    private readonly tests: ConnectionTestService,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Asks the servers of systems that are due, those that wait longest first. */
  async round(intervalMs: number, signal: AbortSignal): Promise<void> {
    const endsAt = performance.now() + ROUND_MS;
    const due = await this.database.read((manager) =>
      this.readings.due(manager, this.clock.now(), SERVERS_PER_ROUND),
    );
    for (const system of due) {
      if (signal.aborted || performance.now() > endsAt) {
        return;
      }
      await this.refresh(system, intervalMs);
    }
  }

  /** The next time is set first: a server that always fails has its turn at the interval too. */
  private async refresh(system: DueSystem, intervalMs: number): Promise<void> {
    const now = this.clock.now();
    const spread = 1 + JITTER * (2 * Math.random() - 1);
    const next = new Date(now.getTime() + intervalMs * spread);
    if (!(await this.database.write((manager) => this.readings.claim(manager, system, now, next)))) {
      return;
    }
    try {
      await this.tests.refresh(system, await this.connections.ofSystem(system));
    } catch (error) {
      this.log.error('tools of a system were not read again', error, { systemResourceId: system.resourceId });
    }
  }

  /** A system is asked a minute later, so not more often than once a minute, whatever its server says. */
  async announced(systemId: string): Promise<void> {
    const at = new Date(this.clock.now().getTime() + MINUTE_MS);
    await this.database
      .write((manager) => this.readings.bringForward(manager, systemId, at))
      .catch((error: unknown) => this.log.error('a changed list of tools was not noted', error));
  }
}
