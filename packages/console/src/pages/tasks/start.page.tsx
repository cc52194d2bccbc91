import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { StartableProcess } from '../../../../client/src/index.js';
import { has, may } from '../../app/permissions.js';
import { setQuery } from '../../app/router.js';
import { loadActiveBuildProcesses } from '../../app/active-build-processes.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { TextField } from '../../parts/fields.js';
import { Empty, Note, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { ApplicationChoice } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { StartForm } from './start-form.js';

const t = texts.tasks;

/** Starts a process of the active build of an application. */
export function Page({ query }: PageProps): JSX.Element {
  const appId = query.get('app') ?? '';
  return (
    <>
      <PageHead title={t.start} lead={t.startLead} crumbs={[{ title: t.title, to: '/tasks' }]} />
      <Section title={t.application}>
        {may('application-delivery') ? <ApplicationChoice appId={appId} /> : <TypeApp appId={appId} />}
      </Section>
      {appId !== '' && <Processes key={appId} appId={appId} name={query.get('process') ?? ''} />}
    </>
  );
}

function TypeApp({ appId }: { appId: string }): JSX.Element {
  const [typed, setTyped] = useState(appId);
  return (
    <form
      class="one-line"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ app: typed.trim(), process: undefined });
      }}
    >
      <TextField label={t.applicationId} value={typed} onChange={setTyped} />
      <Button type="submit">{t.showProcesses}</Button>
    </form>
  );
}

const columnsOf = (appId: string): readonly Column<StartableProcess>[] => [
  { title: t.process, cell: ({ processDefinitionName }) => processDefinitionName },
  {
    title: t.startNow,
    cell: (process) =>
      process.mayStart ? (
        <Button
          label={t.choose(process.processDefinitionName)}
          onClick={() => setQuery({ process: process.processDefinitionName })}
        >
          {t.chooseThis}
        </Button>
      ) : (
        <span class="quiet">{refusalOf(process, appId)}</span>
      ),
  },
];

/** Explains why the user cannot start a process, with the permissions of which one suffices. */
function refusalOf({ refusal, starts }: StartableProcess, appId: string): string {
  const message = refusal?.message ?? t.refused;
  const names = [...new Set(starts.flatMap(({ startPermissions = [] }) => startPermissions))];
  return names.length === 0 || names.some((name) => has(name, appId)) ? message : t.needs(message, names);
}

function Processes({ appId, name }: { appId: string; name: string }): JSX.Element {
  const answer = useAnswer((signal) => loadActiveBuildProcesses(appId, signal), [appId]);
  return (
    <Shown answer={answer}>
      {({ buildId, processes }) => {
        const chosen = processes.find(({ processDefinitionName }) => processDefinitionName === name);
        return (
          <>
            <Section title={t.processes} isFlush>
              <Table
                caption={t.processes}
                columns={columnsOf(appId)}
                rows={processes}
                keyOf={({ processDefinitionName }) => processDefinitionName}
                empty={<Empty title={t.noProcesses} />}
              />
            </Section>
            {chosen?.mayStart === false && <Note tone="warn" title={refusalOf(chosen, appId)} />}
            {chosen?.mayStart === true && (
              <StartForm key={name} appId={appId} buildId={buildId} process={chosen} />
            )}
          </>
        );
      }}
    </Shown>
  );
}
