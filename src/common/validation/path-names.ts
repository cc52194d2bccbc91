import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { isDotSegment, NO_DOT_SEGMENT } from './patterns.decorators.js';

/** A kind of names that stand in paths. */
interface PathName {
  /** Its characters and length, as the OpenAPI document shows them: generators of requests know no lookahead. */
  readonly pattern: RegExp;
  readonly rule: string;
}

/** Names of processes (docs/contract.md, section 1). */
export const PROCESS_NAME: PathName = {
  pattern: /^[A-Za-z0-9._\-[\]()]{1,64}$/,
  rule: 'must be 1 to 64 letters, digits, ".", "_", "-", "[", "]", "(" or ")"',
};

/** Names of workflows: the name rule of resources, as long as a path allows. */
export const WORKFLOW_NAME: PathName = {
  pattern: /^[A-Za-z0-9[\]().\-_]{1,255}$/,
  rule: 'must be 1 to 255 letters, digits, "[", "]", "(", ")", ".", "_" or "-"',
};

/** Whether a path can name it: "." and ".." are segments of paths (RFC 3986, section 3.3), so no client can. */
export function isPathName({ pattern }: PathName, name: string): boolean {
  return pattern.test(name) && !isDotSegment(name);
}

/** The name of a process or a workflow in a path. */
export const IsPathName = ({ pattern, rule }: PathName, options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, pattern: pattern.source, ...options }),
    Matches(new RegExp(`^(?!\\.{1,2}$)${pattern.source.slice(1)}`), {
      message: ({ value }) => (isDotSegment(value) ? NO_DOT_SEGMENT : rule),
    }),
  );
