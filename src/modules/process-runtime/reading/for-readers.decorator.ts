import { type PathCheckOptions, FoundFirst } from '../../../common/http/checked-path.js';
import { demandReader, InstanceAccessService } from '../access/instance-access.service.js';
import { InstanceParams } from './instance.params.dto.js';

/**
 * 403 to who may not read the instance of the path, whatever the path is; then 400 of a malformed path, and 404.
 * @param options `onlyWhenRefused` for a handler that looks at the instance itself
 */
export const ForReaders = (options: Pick<PathCheckOptions, 'onlyWhenRefused'> = {}): MethodDecorator =>
  FoundFirst(
    InstanceAccessService,
    InstanceParams,
    (access, { uuid }, principal) => access.demandReadable(principal, uuid),
    { demandReader, ...options },
  );
