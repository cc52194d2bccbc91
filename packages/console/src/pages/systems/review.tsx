import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ToolReview, ToolReviewPage } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Moment } from '../../parts/facts.js';
import { notify } from '../../parts/messages.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { ReviewAll } from './review-all.js';
import type { KnownSystem } from './system.types.js';
import { ToolComparison } from './tool-comparison.js';
import { useSwitches, type Switches } from './use-switches.js';

const { systems } = texts;
/** Number of tools shown at once. */
const SHOWN = 20;

interface ReviewProps {
  known: KnownSystem;
  reload: () => void;
}

/** Tools whose current definition has not been reviewed. */
export function Review({ known, reload }: ReviewProps): JSX.Element {
  const { path, system } = known;
  const answer = useAnswer(
    async (signal) => (await api().listToolReviews({ path, query: { limit: SHOWN }, signal })).data,
    Object.values(path),
  );
  // Reloads after changes of the system. Until then, the outcomes of the last decisions stay visible.
  const state = `${known.version} ${system.modifiedDate}`;
  const read = useRef(state);
  useEffect(() => {
    if (read.current !== state) {
      read.current = state;
      answer.reload();
    }
  }, [state]);
  const decided = (): void => {
    answer.reload();
    reload();
  };
  return (
    <Shown answer={answer}>
      {(page) =>
        page.reviews.length === 0 ? (
          <Empty title={systems.nothingToReview} />
        ) : (
          <Waiting known={known} page={page} decided={decided} />
        )
      }
    </Shown>
  );
}

interface WaitingProps {
  known: KnownSystem;
  page: ToolReviewPage;
  decided: () => void;
}

function Waiting({ known: { path, system }, page, decided }: WaitingProps): JSX.Element {
  const { reviews, systemTag, next } = page;
  // The ETag of the list ensures that decisions apply to the definitions shown.
  const switchPath = { ...path, systemId: system.id };
  const switches = useSwitches(switchPath, systemTag);
  return (
    <>
      <p class="lead">{systems.reviewLead}</p>
      <ReviewAll shown={{ path: switchPath, reviews, version: systemTag, limit: SHOWN }} decided={decided} />
      {reviews.map((review) => (
        <OneTool key={review.toolId} review={review} switches={switches} decided={decided} />
      ))}
      {next !== null && <p class="quiet">{systems.moreToReview}</p>}
    </>
  );
}

interface OneToolProps {
  review: ToolReview;
  switches: Switches;
  decided: () => void;
}

function OneTool({ review, switches, decided }: OneToolProps): JSX.Element {
  const { toolId, name, enabled: isOn, found, foundAt } = review;
  const decide = useAction(async (enabled: boolean) => {
    await switches.switch(toolId, enabled);
    notify(systems.decided);
    decided();
  });
  return (
    <Section
      title={name}
      actions={
        <>
          <Button kind="primary" isBusy={decide.isBusy} onClick={() => decide.run(true)}>
            {systems.allow}
          </Button>
          <Button isBusy={decide.isBusy} onClick={() => decide.run(false)}>
            {systems.refuse}
          </Button>
        </>
      }
    >
      <p>
        <Badge tone={found === 'CHANGED' ? 'warn' : 'busy'}>{systems.found[found]}</Badge>{' '}
        <Badge tone={isOn ? 'good' : 'quiet'}>{isOn ? systems.isOn : systems.isOff}</Badge>{' '}
        {foundAt !== null && (
          <span class="quiet">
            {systems.foundAt} <Moment at={foundAt} />
          </span>
        )}
      </p>
      <ErrorNote error={decide.error} retry={decided} />
      <ToolComparison review={review} />
    </Section>
  );
}
