import type { JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { explain } from './explain.js';

/** What went wrong, in sentences, with what to do. Shows nothing where nothing did. */
export function ErrorNote({
  error,
  retry,
}: {
  error: unknown;
  retry?: (() => void) | undefined;
}): JSX.Element | null {
  if (error === undefined || error === null) {
    return null;
  }
  const { title, said, details, todo, requestId } = explain(error);
  return (
    <div class="note note-bad" role="alert">
      <p class="note-title">{title}</p>
      {said !== undefined && <p>{said}</p>}
      {details !== undefined && <p class="note-details">{details}</p>}
      <p>
        {todo} {requestId !== undefined && <span class="quiet">{texts.errors.requestId(requestId)}</span>}
      </p>
      {retry !== undefined && (
        <p>
          <Button onClick={retry}>{texts.errors.retry}</Button>
        </p>
      )}
    </div>
  );
}
