import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { texts } from '../../texts/texts.js';

const PART = 100;

/** The beginning of a long list, and a button for more of it where there is more. */
export function useShownPart<Item>(items: readonly Item[]): {
  shown: readonly Item[];
  button: JSX.Element | undefined;
} {
  const [count, setCount] = useState(PART);
  const button =
    items.length > count ? (
      <div class="pager">
        <span class="quiet">{texts.parts.shown(count)}</span>
        <Button onClick={() => setCount(count + PART)}>{texts.parts.more}</Button>
      </div>
    ) : undefined;
  return { shown: items.slice(0, count), button };
}
