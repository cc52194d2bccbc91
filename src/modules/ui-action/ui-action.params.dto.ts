import { IsPathId } from '../../common/validation/patterns.decorators.js';

/** Path of a UI action on a token. */
export class UiActionParams {
  @IsPathId({
    description: '`uuid` of the process instance, as its start or `listProcessInstances` told it.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  processUuid: string;

  @IsPathId({
    description: '`uuid` of an active token, as `getProcessInstance` tells it.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  tokenUuid: string;

  @IsPathId({
    description: '`svcUuid` of one of the `uiActions` of that token.',
    example: '7c012ba2-d101-55f2-b084-149d62e373ce',
  })
  uiActionSvcUuid: string;
}
