import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { IfMatchRequiredError } from '../errors/request.errors.js';
import { readIfMatch, type IfMatch } from './if-match.js';

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
}
