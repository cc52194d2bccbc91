import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { Note } from '../../parts/notes.js';
import { texts } from '../../texts/texts.js';
import { DecideAll, type ShownReviews } from './decide-all.js';

const { systems } = texts;

interface ReviewAllProps {
  shown: ShownReviews;
  decided: () => void;
}

/** A tool about which nothing was decided, and why. */
interface NotDecided {
  name: string;
  reason: string;
}

/** Decides about all tools that are shown, one after the other. What came of each is told, also when one is left that has its own buttons. */
export function ReviewAll({ shown, decided }: ReviewAllProps): JSX.Element {
  const { reviews } = shown;
  const [asked, setAsked] = useState<boolean>();
  const [count, setCount] = useState(0);
  const [others, setOthers] = useState<readonly NotDecided[]>([]);
  const run = useAction(async (enabled: boolean) => {
    const left: NotDecided[] = [];
    const all = new DecideAll(shown);
    setCount(0);
    for (const [index, review] of reviews.entries()) {
      const reason = await all.decide(review, enabled);
      if (reason !== undefined) {
        left.push({ name: review.name, reason });
      }
      setCount(index + 1);
    }
    setOthers(left);
    setAsked(undefined);
    decided();
  });
  return (
    <>
      {reviews.length > 1 && (
        <div class="form-foot">
          <Button onClick={() => setAsked(true)}>{systems.allowAll(reviews.length)}</Button>
          <Button onClick={() => setAsked(false)}>{systems.refuseAll(reviews.length)}</Button>
        </div>
      )}
      {others.length > 0 && (
        <Note tone="warn" title={systems.notDecided}>
          {others.map(({ name, reason }) => (
            <p key={name}>
              {name}: {reason}
            </p>
          ))}
        </Note>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked ? systems.allowAll(reviews.length) : systems.refuseAll(reviews.length)}
          confirm={asked ? systems.allow : systems.refuse}
          isBusy={run.isBusy}
          error={run.error}
          onConfirm={() => run.run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>{reviews.map(({ name }) => name).join(', ')}</p>
          <p role="status">{run.isBusy && texts.parts.shownOf(count, reviews.length)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
