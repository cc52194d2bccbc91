import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { texts } from '../../texts/texts.js';

const CHUNK = 100;

/** Returns the first part of a long list, and a button for more if there is more. */
export function useShownPart<Item>(items: readonly Item[]): {
  shown: readonly Item[];
  button: JSX.Element | undefined;
} {
  const [count, setCount] = useState(CHUNK);
  const button =
    items.length > count ? (
      <div class="pager">
        <span class="quiet">{texts.parts.shown(count)}</span>
        <Button onClick={() => setCount(count + CHUNK)}>{texts.parts.more}</Button>
      </div>
    ) : undefined;
  return { shown: items.slice(0, count), button };
}
