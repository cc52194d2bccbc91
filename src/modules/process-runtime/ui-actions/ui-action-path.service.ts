import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { ProcessInstanceNotFoundError, ProcessTokenNotFoundError } from '../model/process-runtime.errors.js';
import type { UiActionKey } from '../model/process-runtime.types.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import { UiActionAccess } from '../access/ui-action-access.js';

/** What is wrong with the path of a UI action, for requests that never get to its execution. */
@Injectable()
export class UiActionPathService {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly definitions: RunnableDefinitionsService,
    private readonly access: UiActionAccess,
  ) {}

  /**
   * For a request whose body cannot be read, which comes after all that is wrong with its path.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, ProcessTokenNotFoundError
   */
  async demandPath(
    principal: Principal,
    { processUuid, tokenUuid, uiActionSvcUuid }: UiActionKey,
  ): Promise<void> {
    const head = await this.database.read((manager) =>
      this.instances.findHead(manager, { uuid: processUuid }),
    );
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    const definition = await this.definitions.byId(head.definitionId);
    this.access.demand(principal, head, definition, uiActionSvcUuid);
    const token = await this.database.read((manager) => this.tokens.find(manager, head.id, tokenUuid));
    if (token === null) {
      throw new ProcessTokenNotFoundError();
    }
  }
}
