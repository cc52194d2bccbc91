import type { ComponentChildren, JSX } from 'preact';
import type { Answer } from '../live/use-answer.js';
import type { Pages } from '../live/use-pages.js';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';

/** There is nothing, and why that may be. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

/** Something is on its way. */
export function Waiting({ children = texts.parts.loading }: { children?: ComponentChildren }): JSX.Element {
  return (
    <p class="waiting" role="status">
      {children}
    </p>
  );
}

/** Something to know. */
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

/** What was asked for, once it is there; until then that it is on its way, or why it is not there. */
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

/** The foot of a list that is read page by page. */
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
