import { ApiProperty } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { BuildStatus, RunningInstances, type WithdrawnBuild } from '../model/builds.types.js';

/** What becomes of the running instances of a build that is withdrawn. */
export class WithdrawBuildRequestDto {
  @ApiProperty({
    enum: RunningInstances,
    enumName: 'RunningInstances',
    description:
      'What becomes of instances that run: they go on, are put on hold, or are terminated with the processes that they called.',
    example: RunningInstances.Continue,
  })
  @IsEnum(RunningInstances, {
    message: `running must be one of ${Object.values(RunningInstances).join(', ')}`,
  })
  running: RunningInstances;
}

/** A build that was withdrawn. */
export class WithdrawnBuildResponseDto {
  @Shows.uuid('The build.')
  buildId: string;

  @Shows.enum('BuildStatus', BuildStatus, 'Its status.', BuildStatus.Withdrawn)
  buildStatus: BuildStatus;

  @Shows.enum('RunningInstances', RunningInstances, 'What becomes of running instances, in the background.')
  running: RunningInstances;

  @Shows.value(
    'Whether it was the active build. Then the application has none until another one is activated.',
    false,
  )
  wasActive: boolean;
}

export function toWithdrawnBuild(withdrawn: WithdrawnBuild): WithdrawnBuildResponseDto {
  return { ...withdrawn, buildStatus: BuildStatus.Withdrawn };
}
