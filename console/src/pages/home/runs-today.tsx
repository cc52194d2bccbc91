import type { JSX } from 'preact';
import type { WorkflowRun, WorkflowRunState } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Link } from '../../parts/button.js';
import { Figure } from '../../parts/facts.js';
import { Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import type { Tone } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';

const { home } = texts;
const REFRESH_MS = 15_000;
/** As many as one page of the list has at the most. */
const SAMPLE = 100;

const SHOWN: readonly { state: WorkflowRunState; label: string; tone: Tone }[] = [
  { state: 'STARTED', label: home.runsUnderWay, tone: 'busy' },
  { state: 'FINISHED', label: home.runsFinished, tone: 'good' },
  { state: 'FAILED', label: home.runsFailed, tone: 'bad' },
];

/** Runs of workflows and agents since midnight on this machine. */
export function RunsToday(): JSX.Element {
  const from = midnight();
  const page = useAnswer(
    async (signal) => (await api().listWorkflowRuns({ query: { from, limit: SAMPLE }, signal })).data,
    [from],
    { refreshMs: REFRESH_MS },
  );
  return (
    <Section title={home.runsToday} actions={<Link to="/agent-runs">{home.allRuns}</Link>}>
      <Shown answer={page}>
        {({ runs, next }) => (
          <>
            <div class="figures">
              {SHOWN.map(({ state, label, tone }) => (
                <Figure
                  key={state}
                  label={label}
                  value={counted(runs, state, next === null)}
                  tone={state === 'FAILED' && !runs.some((run) => run.state === 'FAILED') ? 'good' : tone}
                  to={`/agent-runs?${new URLSearchParams({ state, from: localTime(from) }).toString()}`}
                />
              ))}
            </div>
            {next !== null && <p class="quiet">{home.runsSampled(runs.length)}</p>}
          </>
        )}
      </Shown>
    </Section>
  );
}

function counted(runs: readonly WorkflowRun[], state: WorkflowRunState, isWhole: boolean): string | number {
  const count = runs.filter((run) => run.state === state).length;
  return isWhole ? count : home.atLeast(count);
}

function midnight(): string {
  const at = new Date();
  at.setHours(0, 0, 0, 0);
  return at.toISOString();
}

/** As a field for a moment writes it. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
