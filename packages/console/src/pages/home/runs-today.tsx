import type { JSX } from 'preact';
import type { WorkflowRunState, WorkflowUsage } from '../../../../client/src/index.js';
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

const SHOWN: readonly { state: WorkflowRunState; label: string; tone: Tone }[] = [
  { state: 'STARTED', label: home.runsRunning, tone: 'busy' },
  { state: 'FINISHED', label: home.runsFinished, tone: 'good' },
  { state: 'FAILED', label: home.runsFailed, tone: 'bad' },
];

/** Workflow runs since local midnight. */
export function RunsToday(): JSX.Element {
  const from = midnight();
  const sums = useAnswer(
    async (signal) => (await api().getWorkflowUsage({ query: { from }, signal })).data,
    [from],
    { refreshMs: REFRESH_MS },
  );
  return (
    <Section title={home.runsToday} actions={<Link to="/agent-runs">{home.allRuns}</Link>}>
      <Shown answer={sums}>
        {(usage) => (
          <>
            <div class="figures">
              {SHOWN.map(({ state, label, tone }) => (
                <Figure
                  key={state}
                  label={label}
                  value={rounded(counted(usage, state))}
                  tone={state === 'FAILED' && counted(usage, state) === 0 ? 'good' : tone}
                  to={`/agent-runs?${new URLSearchParams({ state, from: localTime(from) }).toString()}`}
                />
              ))}
            </div>
            <Models usage={usage} />
          </>
        )}
      </Shown>
    </Section>
  );
}

/** Model usage. */
function Models({ usage }: { usage: WorkflowUsage }): JSX.Element {
  const { agentRuns, modelCalls, inputTokens, outputTokens, cost, complete } = usage;
  const format = (count: number): string => (complete ? rounded(count) : `${rounded(count)}+`);
  return (
    <>
      <div class="figures">
        <Figure label={home.agentRuns} value={format(agentRuns)} note={home.modelCalls(modelCalls)} />
        <Figure label={home.inputTokens} value={format(inputTokens)} />
        <Figure label={home.outputTokens} value={format(outputTokens)} />
        {cost !== null && <Figure label={home.cost} value={format(cost)} note={home.currency} />}
      </div>
      {!complete && <p class="quiet">{home.callsSampled(modelCalls)}</p>}
    </>
  );
}

function rounded(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 2 });
}

function counted({ runs }: WorkflowUsage, wanted: WorkflowRunState): number {
  return runs.find(({ state }) => state === wanted)?.count ?? 0;
}

function midnight(): string {
  const at = new Date();
  at.setHours(0, 0, 0, 0);
  return at.toISOString();
}

/** Formats a time for a `datetime-local` field. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
