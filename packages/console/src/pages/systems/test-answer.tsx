import type { ComponentChildren, JSX } from 'preact';
import type {
  ConnectionTestResponse,
  RejectedTool,
  SynchronizedSystem,
  ToolWarning,
} from '../../../../client/src/index.js';
import { Badge } from '../../parts/badge.js';
import { LongTable } from '../../parts/long-table.js';
import { Note } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import type { Column } from '../../parts/table.js';
import { duration } from '../../parts/time.js';
import { texts } from '../../texts/texts.js';
import { stepsOf, type Step, type StepName } from './test-steps.js';

const { systems } = texts;
const TONES = { done: 'good', failed: 'bad', skipped: 'quiet' } as const;
const CHANGES = ['added', 'changed', 'removed', 'returned', 'disabledForReview'] as const;
/** Maximum number of names shown per kind of change. */
const NAMES_SHOWN = 20;

const REMARKS: readonly Column<RejectedTool | ToolWarning>[] = [
  { title: systems.tool, cell: ({ name }) => name },
  { title: systems.reason, cell: ({ reason }) => reason.replaceAll('_', ' ') },
];

/** Result of a connection test, step by step. */
export function TestAnswer({
  answer,
  needsToken,
}: {
  answer: ConnectionTestResponse;
  needsToken: boolean;
}): JSX.Element {
  const { rejectedTools = [], toolWarnings = [], warnings = [] } = answer;
  return (
    <Section title={systems.answer}>
      <ol class="steps" aria-live="polite">
        {stepsOf(answer, needsToken).map((step) => (
          <StepRow key={step.name} step={step}>
            {detailsOf(step, answer)}
          </StepRow>
        ))}
      </ol>
      <p class="quiet">
        {answer.message}. {systems.took(duration(answer.latencyMs))}
      </p>
      {warnings.length > 0 && (
        <Note tone="warn" title={systems.warnings}>
          {warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Note>
      )}
      {hasNews(answer) && <p>{systems.answerFresh}</p>}
      <ToolRemarks caption={systems.rejectedTools} rows={rejectedTools} />
      <ToolRemarks caption={systems.toolWarnings} rows={toolWarnings} />
    </Section>
  );
}

const textOf = ({ name, reason }: RejectedTool | ToolWarning): string => `${name}\n${reason}`;

function ToolRemarks({
  caption,
  rows,
}: {
  caption: string;
  rows: readonly (RejectedTool | ToolWarning)[];
}): JSX.Element | null {
  return rows.length === 0 ? null : (
    <LongTable caption={caption} columns={REMARKS} rows={rows} keyOf={textOf} textOf={textOf} empty={null} />
  );
}

function StepRow({ step, children }: { step: Step; children: ComponentChildren }): JSX.Element {
  return (
    <li class="step">
      <Badge tone={TONES[step.state]}>{systems.stepStates[step.state]}</Badge>
      <span class="step-name">{systems.stepNames[step.name]}</span>
      <span class="step-details">{children}</span>
    </li>
  );
}

function detailsOf({ name, state }: Step, answer: ConnectionTestResponse): ComponentChildren {
  if (state === 'failed') {
    return answer.details ?? answer.message;
  }
  return state === 'done' ? DETAILS[name]?.(answer) : undefined;
}

const DETAILS: Partial<Record<StepName, (answer: ConnectionTestResponse) => ComponentChildren>> = {
  protocol: ({ server, transport, protocolVersion }) => (
    <>
      {transport !== undefined && systems.spoken(transport, protocolVersion ?? '')}{' '}
      {server !== undefined && systems.server(server.name, server.version)}
    </>
  ),
  tools: ({ tools = [], rejectedTools = [] }) => (
    <>
      {systems.listed(tools.length)}
      {rejectedTools.length > 0 && `. ${systems.rejected(rejectedTools.length)}`}
    </>
  ),
  stored: ({ synchronizedSystems = [] }) =>
    synchronizedSystems.length === 0
      ? systems.noSystems
      : synchronizedSystems.map((system) => <Synchronized key={system.resourceId} system={system} />),
};

function Synchronized({ system }: { system: SynchronizedSystem }): JSX.Element {
  const changes = CHANGES.filter((change) => system[change].length > 0);
  return (
    <div>
      <strong>{system.name}</strong>
      {changes.length === 0 && `: ${systems.nothingNew}`}
      {changes.map((change) => (
        <div key={change}>
          {systems.report[change]}: {namesOf(system[change])}
        </div>
      ))}
    </div>
  );
}

function hasNews({ synchronizedSystems = [] }: ConnectionTestResponse): boolean {
  return synchronizedSystems.some(
    ({ added, changed, returned }) => added.length + changed.length + returned.length > 0,
  );
}

function namesOf(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (rest > 0 ? ` … +${rest}` : '');
}
