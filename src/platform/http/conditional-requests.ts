import { Injectable } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import {
  ChangedMeanwhileError,
  IfMatchRequiredError,
  ValidationFailedError,
} from '../errors/request.errors.js';
import { Env } from '../config/env.js';
import { headerOf } from './request.decorators.js';

/** Entity tags of a header, with their quotes and without `W/`: what the weak comparison looks at (RFC 9110, section 8.8.3.2). */
function opaqueTags(text: string): readonly string[] {
  return text.match(/"[^"]*"/g) ?? [];
}

/** The states that a change accepts: one of these entity tags, quotes included and without `W/`, or any state. */
export type IfMatch = '*' | readonly string[];

/** The states on which a change may be made; `absent` where nothing is there yet, so that there is no tag that the caller could have sent. */
export type ChangeCondition = IfMatch | 'absent';

/** The request header `If-Match` (RFC 9110, section 13.1.1). */
export const IF_MATCH = {
  name: 'If-Match',
  required: true,
  description:
    'The `ETag` of what was read, so that nobody overwrites what somebody else did meanwhile; `*` for whatever is there.',
  schema: {
    type: 'string',
    maxLength: 1_024,
    // One tag, or several: all that a client has a reason to send.
    pattern: '^(\\*|(W/)?"[!#-~]*"(, (W/)?"[!#-~]*")*)$',
    example: '*',
  },
} as const;

const optionalIfMatch = (description: string, example = '*') => ({
  ...IF_MATCH,
  required: false,
  description,
  schema: { ...IF_MATCH.schema, example },
});

/** The same, where a change needs none unless HTTP_REQUIRE_IF_MATCH says so. */
export const OPTIONAL_IF_MATCH = optionalIfMatch(
  `${IF_MATCH.description} 412 when it is another by now. Needed where the deployment asks for it: 428 without.`,
);

/** The same, where a change of something of a system never needs one. */
export const SYSTEM_IF_MATCH = optionalIfMatch(
  'The `ETag` of the system as it was read, tools included: 412 when it is another by now.',
);

/** The same, for what is done on a visit of a token. */
export const VISIT_IF_MATCH = optionalIfMatch(
  'The `visit` of the token as it was read, in quotes: 412 when the token is on another visit by now.',
  '"3"',
);

/** The same, for the commit of a version. */
export const PACKAGE_IF_MATCH = optionalIfMatch(
  'The `checksum` of the package as it was stored, in quotes: 412 when the version holds another package by now.',
);

/** The response header `ETag` of a node (RFC 9110, section 8.8.3). */
export const ETAG_HEADER = {
  ETag: {
    description: 'Tells this state of the node from all others: the `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
} as const;

/** Entity tags in a list, as RFC 9110 writes them (sections 5.6.1 and 8.8.3): empty elements are allowed. */
const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAG_LIST = new RegExp(String.raw`^[\s,]*${TAG}(?:\s*,(?:\s*${TAG})?)*\s*$`);

/**
 * Reads `If-Match` (RFC 9110, section 13.1.1), tags without `W/`. A proxy that compresses an answer weakens its tag on the way to the
 * caller (section 8.8.1), who can send back nothing else. A strong comparison would lock out all callers behind such a proxy, and
 * protect nobody.
 * @returns undefined without the header
 * @throws ValidationFailedError when it is neither `*` nor a list of entity tags
 */
export function readIfMatch(value = ''): IfMatch | undefined {
  const text = value.trim();
  if (text === '' || text === '*') {
    return text || undefined;
  }
  return TAG_LIST.test(text)
    ? opaqueTags(text)
    : refuseIfMatch('must be * or entity tags with their quotes, as ETag has them');
}

/**
 * As `readIfMatch`, for changes that need it.
 * @throws ValidationFailedError without the header, too
 */
export function requiredIfMatch(value?: string): IfMatch {
  return readIfMatch(value) ?? refuseIfMatch('is required');
}

function refuseIfMatch(rule: string): never {
  throw new ValidationFailedError([{ field: 'If-Match', rule }]);
}

/** Whether a change may be made on the state with this entity tag; null for what is not there. */
export function matches(ifMatch: IfMatch, etag: string | null): boolean {
  return etag !== null && (ifMatch === '*' || ifMatch.includes(etag.replace(/^W\//, '')));
}

/**
 * Refuses a change of another state than the caller has read. To be called where nobody else can change it meanwhile.
 * @param condition undefined where any state will do
 * @throws ChangedMeanwhileError
 * @throws IfMatchRequiredError where there is something, and the caller had to say that he has read it
 */
export function demandMatch(condition: ChangeCondition | undefined, etag: string | null): void {
  if (condition === 'absent' && etag !== null) {
    throw new IfMatchRequiredError();
  }
  if (condition !== 'absent' && condition !== undefined && !matches(condition, etag)) {
    throw new ChangedMeanwhileError();
  }
}

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

/**
 * Whether `If-None-Match` of a request names an entity tag, in the weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). `*` names none here.
 * `Cache-Control: no-cache`, which `fetch` adds to such a request by itself, is for caches: it asks for what is stored now, and that was read.
 */
export function namesTag(request: Pick<Request, 'headers'>, etag: string): boolean {
  const sent = headerOf(request, 'If-None-Match');
  const [current] = opaqueTags(etag);
  return sent !== undefined && opaqueTags(sent).some((tag) => tag === current);
}

/**
 * Express middleware that takes `If-None-Match: *` of reads for no condition. The framework would answer such a read
 * with 304 and no body. It would do so even where an answer has no entity tag and is made anew for each request, as the
 * answer of a rescan is.
 */
export const withoutStarCondition: RequestHandler = (request, _response, next) => {
  if (request.headers['if-none-match'] === '*') {
    delete request.headers['if-none-match'];
  }
  next();
};
