import { UseFilters, type Type } from '@nestjs/common';
import { CheckedPath, type PathCheck, type PathCheckOptions } from './checked-path.js';
import { refusedPathFilter } from './refused-path.filter.js';

/**
 * Tells faults of the path before faults of the rest of the request: 404 of the path, then 400 of query and body
 * (docs/contract.md, section 1).
 * @param service provider that looks the path up with `demand`
 * @param params class of the path parameters
 */
export const FoundFirst = <Service, Params>(
  service: Type<Service>,
  params: Type<Params>,
  demand: PathCheck<Service, Params>['demand'],
  { onlyWhenRefused = false, ...options }: PathCheckOptions = {},
): MethodDecorator => {
  const check = { service, params, demand, ...options } as PathCheck & PathCheckOptions;
  return onlyWhenRefused ? UseFilters(refusedPathFilter(check)) : CheckedPath(check);
};
