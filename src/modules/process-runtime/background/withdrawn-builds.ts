import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BuildWithdrawalsService } from '../../builds/active/build-withdrawals.service.js';
import { RunningInstances, type Withdrawal } from '../../builds/model/builds.types.js';
import { ScheduledJobs } from './scheduled-jobs.js';
import { TimerOutbox } from './timer-outbox.js';
import type { WithdrawnBuildWork } from './withdrawn-build.handler.js';

/** A start that was under way when its build was withdrawn is stored by then. */
const LAST_LOOK_MS = 60_000;

/** Leaves running instances of a build that is withdrawn to the background. */
@Injectable()
export class WithdrawnBuilds implements OnModuleInit {
  private readonly reserved = new WeakMap<Withdrawal, number>();

  constructor(
    private readonly withdrawals: BuildWithdrawalsService,
    private readonly outbox: TimerOutbox,
    private readonly jobs: ScheduledJobs,
  ) {}

  onModuleInit(): void {
    this.withdrawals.onWithdrawn({
      prepare: async (withdrawal) => {
        this.reserved.set(withdrawal, await this.jobs.reserve(workOf(withdrawal)));
      },
      store: (manager, withdrawal) =>
        this.outbox.add(manager, this.reserved.get(withdrawal) ?? 0, workOf(withdrawal)),
      stored: () => this.outbox.tryToBring(),
    });
  }
}

function workOf({ appId, buildId, running, actor, at }: Withdrawal): WithdrawnBuildWork | null {
  const begun = at.getTime();
  return running === RunningInstances.Continue
    ? null
    : { kind: 'WITHDRAWN_BUILD', appId, buildId, running, actor, at: begun, until: begun + LAST_LOOK_MS };
}
