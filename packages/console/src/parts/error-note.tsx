import type { JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { explain } from './explain.js';

/** Explains an error and what to do. Renders nothing without an error. */
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
  const { title, message, details, advice, requestId } = explain(error);
  return (
    <div class="note note-bad" role="alert">
      <p class="note-title">{title}</p>
      {message !== undefined && <p>{message}</p>}
      {details !== undefined && <p class="note-details">{details}</p>}
      <p>
        {advice} {requestId !== undefined && <span class="quiet">{texts.errors.requestId(requestId)}</span>}
      </p>
      {retry !== undefined && (
        <p>
          <Button onClick={retry}>{texts.errors.retry}</Button>
        </p>
      )}
    </div>
  );
}
