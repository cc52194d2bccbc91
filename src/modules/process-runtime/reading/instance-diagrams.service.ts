import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { BuildReadsService } from '../../builds/contents/build-reads.service.js';
import { ProcessInstancesService } from './process-instances.service.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import type { InstanceDiagramDto } from './instance-diagram.dto.js';

/** Shows which BPMN an instance runs, and where it stands in it. */
@Injectable()
export class InstanceDiagramsService {
  constructor(
    private readonly instances: ProcessInstancesService,
    private readonly builds: BuildReadsService,
    private readonly database: Database,
    private readonly instanceRows: InstancesRepository,
  ) {}

  /**
   * The BPMN file that an instance runs, as it was delivered.
   * @throws ProcessInstanceNotFoundError
   */
  async bpmn(uuid: string): Promise<string> {
    const head = await this.database.read((manager) => this.instanceRows.findHead(manager, { uuid }));
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    const { appId, buildId, processName } = head;
    return this.builds.bpmn({ appId, buildId, processName });
  }

  /**
   * The same file, and where the live tokens stand in it.
   * @throws ProcessInstanceNotFoundError
   */
  async diagram(principal: Principal, uuid: string): Promise<InstanceDiagramDto> {
    const { tokens } = await this.instances.get(principal, uuid, new Set());
    const positions = tokens
      .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
      .map(({ currentNodeId: nodeId, bpmnElementId, uuid: tokenUuid, state }) => ({
        nodeId,
        bpmnElementId,
        tokenUuid,
        state,
      }));
    return { bpmn: await this.bpmn(uuid), positions };
  }
}
