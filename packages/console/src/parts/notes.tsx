import type { ComponentChildren, JSX } from 'preact';
import type { Answer } from '../live/use-answer.js';
import type { Pages } from '../live/use-pages.js';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';

/** Placeholder for an empty list or page. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

/** Loading indicator. */
export function Waiting({ children = texts.parts.loading }: { children?: ComponentChildren }): JSX.Element {
  return (
    <p class="waiting" role="status">
      {children}
    </p>
  );
}

/** Highlighted note. */
export function Note({
  tone = 'quiet',
  title,
  children,
}: {
  tone?: 'quiet' | 'warn' | 'good';
  title?: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`note note-${tone}`}>
      {title !== undefined && <p class="note-title">{title}</p>}
      {children}
    </div>
  );
}

/** Renders the data of a request, or a loading indicator or an error. */
export function Shown<T>({
  answer,
  children,
}: {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  const { data, error, isLoading, reload } = answer;
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {data === undefined ? isLoading && <Waiting /> : children(data)}
    </>
  );
}

/** Footer of a paged list. */
export function Pager<T>({ pages }: { pages: Pages<T> }): JSX.Element {
  const { items, error, isLoading, hasMore, more, reload } = pages;
  return (
    <div class="pager">
      <ErrorNote error={error} retry={items.length > 0 && hasMore ? more : reload} />
      {isLoading && items.length === 0 && <Waiting />}
      {items.length > 0 && <span class="quiet">{texts.parts.shown(items.length)}</span>}
      {hasMore && (
        <Button onClick={more} isBusy={isLoading}>
          {texts.parts.more}
        </Button>
      )}
    </div>
  );
}
