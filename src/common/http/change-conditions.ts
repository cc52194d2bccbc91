import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { IfMatchRequiredError } from '../errors/request.errors.js';
import { readIfMatch, type ChangeCondition, type IfMatch } from './if-match.js';

/** On what state a change is made, where the caller says so, and whether he must (HTTP_REQUIRE_IF_MATCH). */
@Injectable()
export class ChangeConditions {
  constructor(private readonly env: Env) {}

  /**
   * @param header value of `If-Match`; undefined without
   * @returns undefined where any state will do
   * @throws IfMatchRequiredError, ValidationFailedError
   */
  of(header: string | undefined): IfMatch | undefined {
    const ifMatch = readIfMatch(header);
    if (ifMatch === undefined && this.env.get('HTTP_REQUIRE_IF_MATCH')) {
      throw new IfMatchRequiredError();
    }
    return ifMatch;
  }

  /**
   * As `of`, for what the change makes where it is not there yet: the header is needed only where something is there.
   * @throws ValidationFailedError
   */
  ofMade(header: string | undefined): ChangeCondition | undefined {
    return readIfMatch(header) ?? (this.env.get('HTTP_REQUIRE_IF_MATCH') ? 'absent' : undefined);
  }
}
