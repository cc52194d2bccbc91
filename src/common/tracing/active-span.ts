import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServiceSpan, SpanBeginning } from './service-span.js';

const storage = new AsyncLocalStorage<ServiceSpan | undefined>();

/** The span of the work under way; undefined where there are no traces. */
export function currentSpan(): ServiceSpan | undefined {
  return storage.getStore();
}

/** The span of the work under way, in a trace that is recorded. */
export function recordedSpan(): ServiceSpan | undefined {
  const span = storage.getStore();
  return span?.isRecording() === true ? span : undefined;
}

/** Does work, and all that follows from it, as part of a span, or of none. Whoever began the span ends it. */
export function withSpan<Result>(span: ServiceSpan | undefined, work: () => Result): Result {
  return span === storage.getStore() ? work() : storage.run(span, work);
}

/**
 * Does work as a span of its own, a part of the span under way. Where nothing is recorded it only does the work.
 * @param name one of few
 * @param work gets the span, to tell more of it
 * @throws what the work throws
 */
export function inSpan<Result>(
  name: string,
  beginning: SpanBeginning,
  work: (span?: ServiceSpan) => Promise<Result>,
): Promise<Result> {
  const parent = recordedSpan();
  return parent === undefined ? work() : recorded(parent.child(name, beginning), work);
}

/**
 * Does work that several share. Its span is a part of the first of theirs that is recorded, and linked to the others. Without one the
 * work belongs to no span, whoever it was that happened to begin it.
 * @param sharers their spans
 */
export function inSharedSpan<Result>(
  name: string,
  sharers: readonly (ServiceSpan | undefined)[],
  work: () => Promise<Result>,
): Promise<Result> {
  const [first, ...others] = sharers.filter((span) => span?.isRecording() === true);
  if (first === undefined) {
    return withSpan(undefined, work);
  }
  const links = others.map((span) => ({ context: (span as ServiceSpan).spanContext() }));
  const attributes = { 'svc.shared.by': sharers.length };
  return recorded(first.child(name, { links, attributes }), work);
}

/** Does the work of a span, and ends it. */
export async function recorded<Result>(
  span: ServiceSpan,
  work: (span: ServiceSpan) => Promise<Result>,
): Promise<Result> {
  try {
    return await withSpan(span, () => work(span));
  } catch (error) {
    span.recordException(error);
    throw error;
  } finally {
    span.end();
  }
}
