import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BuildDifference } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { LongTable } from '../../parts/long-table.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import type { Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import { BuildChoice } from './build-choice.js';

const { applications } = texts;
const TONES = { ADDED: 'good', REMOVED: 'bad', CHANGED: 'warn' } as const;

const COLUMNS: readonly Column<BuildDifference>[] = [
  {
    title: applications.change,
    cell: ({ change }) => <Badge tone={TONES[change]}>{change.toLowerCase()}</Badge>,
    isTight: true,
  },
  { title: applications.part, cell: ({ part }) => part.toLowerCase(), isTight: true },
  {
    title: applications.name,
    cell: ({ name, within }) => (within === null ? name : `${within} › ${name}`),
  },
  { title: applications.members, cell: membersOf },
  { title: applications.application, cell: ({ applicationId }) => applicationId, isExtra: true },
];

/** Differences of a build from the active build or from a chosen one. */
export function Differences({ appId, buildId }: { appId: string; buildId: string }): JSX.Element {
  const [base, setBase] = useState('');
  const answer = useAnswer(
    async (signal) => {
      const query = base === '' ? {} : { baseBuildId: base };
      return (await api().compareBuild({ path: { appId, buildId }, query, signal })).data.differences;
    },
    [appId, buildId, base],
  );
  return (
    <Section title={applications.differences} isFlush>
      <div class="table-filter">
        <BuildChoice
          hasWithdrawn
          appId={appId}
          label={applications.comparedWith}
          buildId={base}
          empty={applications.activeBuild}
          onChange={setBase}
          without={buildId}
        />
      </div>
      <Shown answer={answer}>
        {(differences) => (
          <LongTable
            caption={applications.differences}
            columns={COLUMNS}
            rows={differences}
            keyOf={({ part, applicationId, within, name }) => [part, applicationId, within, name].join('\n')}
            textOf={({ part, name, within }) => [part, name, within].join('\n')}
            empty={<Empty title={applications.noDifferences} />}
          />
        )}
      </Shown>
    </Section>
  );
}

function membersOf({ members, enabled }: BuildDifference): string {
  const flag = enabled === null ? [] : [enabled ? applications.toolOn : applications.toolOff];
  return [...members, ...flag].join(', ');
}
