import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { setQuery } from '../../app/router.js';
import { startable } from '../../app/startable.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { Select, TextField } from '../../parts/fields.js';
import { ButtonIcon } from '../../parts/icon.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances;
/** As many as the service takes. */
const MOST = 4;

/** Finds instances by values of their data. Which ones there are the processes of an application say; without one a person types it. */
export function ByData({ query }: { query: URLSearchParams }): JSX.Element {
  const [typed, setTyped] = useState('');
  const [value, setValue] = useState('');
  const names = useSearchable(query.get('applicationId') ?? '', query.get('processDefinitionName') ?? '');
  const terms = query.getAll('data');
  const path = pathOf(names, typed);
  const term = `${path}:${value.trim()}`;
  const isWhole = path !== '' && value.trim() !== '';
  const isFull = isWhole && terms.length >= MOST && !terms.includes(term);
  return (
    <>
      <form
        class="one-line is-pair"
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole && !isFull) {
            setQuery({ data: [...new Set([...terms, term])] });
            setValue('');
          }
        }}
      >
        <Path names={names} path={path} typed={typed} onChange={setTyped} />
        <TextField
          label={t.dataValue}
          value={value}
          onChange={setValue}
          error={isFull ? t.dataFull(MOST) : undefined}
        />
        <Button type="submit" disabled={!isWhole || isFull}>
          {t.findByData}
        </Button>
      </form>
      {terms.length > 0 && <Terms terms={terms} />}
    </>
  );
}

interface PathProps {
  names: readonly string[];
  path: string;
  typed: string;
  onChange: (path: string) => void;
}

function Path({ names, path, typed, onChange }: PathProps): JSX.Element {
  return names.length === 0 ? (
    <TextField label={t.dataPath} hint={t.dataPathHint} value={typed} onChange={onChange} />
  ) : (
    <Select
      label={t.dataPath}
      value={path}
      choices={names.map((name) => ({ value: name, title: name }))}
      onChange={onChange}
    />
  );
}

/** What was typed, or chosen of those that are declared. */
function pathOf(names: readonly string[], typed: string): string {
  return names.length === 0 || names.includes(typed) ? typed.trim() : (names[0] ?? '');
}

/** What is searched for, to be taken back one by one. */
function Terms({ terms }: { terms: readonly string[] }): JSX.Element {
  return (
    <ul class="chips" aria-label={t.searchedData}>
      {terms.map((term) => (
        <li key={term} class="chip">
          <code>{term}</code>
          <Button
            kind="bare"
            label={t.withoutData(term)}
            onClick={() => setQuery({ data: terms.filter((one) => one !== term) })}
          >
            <ButtonIcon name="close" />
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The paths that the active build of an application declares, or one of its processes; none where nobody knows. */
function useSearchable(appId: string, process: string): readonly string[] {
  const { data = [] } = useAnswer(
    async (signal) => {
      const { processes } = appId === '' ? { processes: [] } : await startable(appId, signal);
      const meant = processes.filter((one) => process === '' || one.processDefinitionName === process);
      return [...new Set(meant.flatMap(({ searchable = [] }) => searchable))].toSorted();
    },
    [appId, process],
  );
  return data;
}
