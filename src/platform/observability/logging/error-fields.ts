const MESSAGE_MAX_LENGTH = 500;
const STACK_MAX_LENGTH = 4_000;

/**
 * Classes whose messages are logged if this service's own code threw the error. Libraries, drivers and the JSON parser quote
 * their input. So do the service's own error classes, whose `name` and `code` are enough.
 */
const PLAIN_ERRORS: ReadonlySet<unknown> = new Set([Error, TypeError, RangeError, ReferenceError]);
/**
 * A frame in a file of this service: `at read (…/src/a.ts:1:2)`, not `at JSON.parse (<anonymous>)`. A frame in a bundle, which has
 * no source map then, is one of a package.
 */
const OWN_FRAME = /^\s+at (?!.*(?:node_modules|\bnode:|\/dist\/src\/bundle\/)).*:\d+:\d+\)?$/;
/** Messages of V8 that quote a value or the name of a member: "Cannot create property 'a' on string 'b'". */
const QUOTES_VALUE = /^(Cannot (?:add|assign|create|delete|use)|Class extends)\b[^]*/;
/** Everything from the first quote to the last, unless it is a single plain name. */
const QUOTED_TEXT = /'(?![\w$]{1,64}'[^']*$)[^]*'/;

/** Returns what may be logged of an error: name, code, stack frames, and the message if it cannot contain the text of others. */
export function errorFields(error: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) {
    return error === undefined ? {} : { errorName: typeof error };
  }
  const { code } = error as { code?: unknown };
  const frames = framesOf(error);
  return {
    errorName: error.name,
    errorCode: typeof code === 'string' ? code : undefined,
    errorCause: error.cause instanceof Error ? error.cause.name : undefined,
    errorMessage: messageOf(error, frames[0]),
    stack: frames.join('\n').slice(0, STACK_MAX_LENGTH),
  };
}

function messageOf({ constructor, message }: Error, frame = ''): string | undefined {
  return PLAIN_ERRORS.has(constructor) && OWN_FRAME.test(frame)
    ? message.replace(QUOTES_VALUE, '$1 …').replace(QUOTED_TEXT, "'…'").slice(0, MESSAGE_MAX_LENGTH)
    : undefined;
}

/** The frames follow the message, which could contain lines that look like frames. */
function framesOf({ message, stack = '' }: Error): string[] {
  const start = stack.indexOf(message);
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
}
