import { Injectable } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import {
  ChangedMeanwhileError,
  IfMatchRequiredError,
  ValidationFailedError,
} from '../errors/request.errors.js';
import { Env } from '../config/env.js';
import { headerOf } from './request.decorators.js';

/**
 * Returns the entity tags of a header, with quotes and without `W/`, as the weak comparison uses them (RFC 9110,
 * section 8.8.3.2).
 */
function opaqueTags(text: string): readonly string[] {
  return text.match(/"[^"]*"/g) ?? [];
}

/** The states on which a change is accepted: those with one of these entity tags (with quotes, without `W/`), or any. */
export type IfMatch = '*' | readonly string[];

/** As `IfMatch`; `absent` means that nothing may exist yet, since the caller sent no tag. */
export type ChangeCondition = IfMatch | 'absent';

/** The request header `If-Match` (RFC 9110, section 13.1.1). */
export const IF_MATCH = {
  name: 'If-Match',
  required: true,
  description:
    'The `ETag` that was read, so that the request does not overwrite changes of others; `*` accepts any state.',
  schema: {
    type: 'string',
    maxLength: 1_024,
    // One tag or several: clients have no reason to send other forms of RFC 9110.
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

/** `If-Match` of changes that require it only with HTTP_REQUIRE_IF_MATCH. */
export const OPTIONAL_IF_MATCH = optionalIfMatch(
  `${IF_MATCH.description} 412 if it has changed since. Deployments can require the header: 428 without it.`,
);

/** `If-Match` of changes within a system that never require it. */
export const SYSTEM_IF_MATCH = optionalIfMatch(
  'The `ETag` of the system that was read, tools included: 412 if it has changed since.',
);

/** `If-Match` of what is done on a visit of a token. */
export const VISIT_IF_MATCH = optionalIfMatch(
  'The `visit` of the token that was read, in quotes: 412 if the token is now on another visit.',
  '"3"',
);

/** `If-Match` of the commit of a version. */
export const PACKAGE_IF_MATCH = optionalIfMatch(
  'The `checksum` of the stored package, in quotes: 412 if the version now has another package.',
);

/** The response header `ETag` of a node (RFC 9110, section 8.8.3). */
export const ETAG_HEADER = {
  ETag: {
    description: 'Identifies this state of the node. Send it as `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
} as const;

/** A list of entity tags in the syntax of RFC 9110 (sections 5.6.1 and 8.8.3), which allows empty elements. */
const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAG_LIST = new RegExp(String.raw`^[\s,]*${TAG}(?:\s*,(?:\s*${TAG})?)*\s*$`);

/**
 * Reads `If-Match` (RFC 9110, section 13.1.1) as tags without `W/`. A proxy that compresses a response weakens its tag
 * (section 8.8.1), and the caller can send back only that one. A strong comparison would lock out all callers behind
 * such a proxy and protect nobody.
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
    : refuseIfMatch('must be * or entity tags in quotes, as in ETag');
}

/**
 * As `readIfMatch`, for changes that require the header.
 * @throws ValidationFailedError also without the header
 */
export function requireIfMatch(value?: string): IfMatch {
  return readIfMatch(value) ?? refuseIfMatch('is required');
}

function refuseIfMatch(rule: string): never {
  throw new ValidationFailedError([{ field: 'If-Match', rule }]);
}

/** Returns whether a change is accepted on the state with this entity tag; null means that nothing exists. */
export function matches(ifMatch: IfMatch, etag: string | null): boolean {
  return etag !== null && (ifMatch === '*' || ifMatch.includes(etag.replace(/^W\//, '')));
}

/**
 * Rejects a change if the caller has read another state. Call it where nobody else can change the state in between.
 * @param condition undefined if any state is accepted
 * @throws ChangedMeanwhileError
 * @throws IfMatchRequiredError when something exists, and the caller had to send its tag
 */
export function requireMatch(condition: ChangeCondition | undefined, etag: string | null): void {
  if (condition === 'absent' && etag !== null) {
    throw new IfMatchRequiredError();
  }
  if (condition !== 'absent' && condition !== undefined && !matches(condition, etag)) {
    throw new ChangedMeanwhileError();
  }
}

/** Reads the condition of a change from `If-Match`, which HTTP_REQUIRE_IF_MATCH may require. */
@Injectable()
export class ChangeConditions {
  constructor(private readonly env: Env) {}

  /**
   * @param header value of `If-Match`
   * @returns undefined if any state is accepted
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
   * As `of`, for changes that also create: the header is required only if something exists.
   * @throws ValidationFailedError
   */
  ofUpsert(header: string | undefined): ChangeCondition | undefined {
    return readIfMatch(header) ?? (this.env.get('HTTP_REQUIRE_IF_MATCH') ? 'absent' : undefined);
  }
}

/**
 * Returns whether `If-None-Match` names an entity tag, in the weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2).
 * `*` names none. `Cache-Control: no-cache`, which `fetch` adds to such a request, has no effect: it is meant for
 * caches, and the tag is that of the current state.
 */
export function namesTag(request: Pick<Request, 'headers'>, etag: string): boolean {
  const sent = headerOf(request, 'If-None-Match');
  const [current] = opaqueTags(etag);
  return sent !== undefined && opaqueTags(sent).some((tag) => tag === current);
}

/**
 * Express middleware that ignores `If-None-Match: *` of reads. The framework would respond with 304 and no body, even
 * if the response has no entity tag and is created for each request, such as that of a rescan.
 */
export const withoutStarCondition: RequestHandler = (request, _response, next) => {
  if (request.headers['if-none-match'] === '*') {
    delete request.headers['if-none-match'];
  }
  next();
};
