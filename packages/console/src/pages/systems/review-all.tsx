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

/** Tool without a decision, and the reason. */
interface NotDecided {
  name: string;
  reason: string;
}

/** Buttons that decide about all shown tools. Reports failures even when only one tool is left, which has its own buttons. */
export function ReviewAll({ shown, decided }: ReviewAllProps): JSX.Element {
  const { reviews } = shown;
  const [decision, setDecision] = useState<boolean>();
  const [count, setCount] = useState(0);
  const [failures, setFailures] = useState<readonly NotDecided[]>([]);
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
    setFailures(left);
    setDecision(undefined);
    decided();
  });
  return (
    <>
      {reviews.length > 1 && (
        <div class="form-foot">
          <Button onClick={() => setDecision(true)}>{systems.allowAll(reviews.length)}</Button>
          <Button onClick={() => setDecision(false)}>{systems.refuseAll(reviews.length)}</Button>
        </div>
      )}
      {failures.length > 0 && (
        <Note tone="warn" title={systems.notDecided}>
          {failures.map(({ name, reason }) => (
            <p key={name}>
              {name}: {reason}
            </p>
          ))}
        </Note>
      )}
      {decision !== undefined && (
        <ConfirmDialog
          title={decision ? systems.allowAll(reviews.length) : systems.refuseAll(reviews.length)}
          confirm={decision ? systems.allow : systems.refuse}
          isBusy={run.isBusy}
          error={run.error}
          onConfirm={() => run.run(decision)}
          onClose={() => setDecision(undefined)}
        >
          <p>{reviews.map(({ name }) => name).join(', ')}</p>
          <p role="status">{run.isBusy && texts.parts.shownOf(count, reviews.length)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
