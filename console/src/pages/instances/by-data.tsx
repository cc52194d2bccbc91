import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { setQuery } from '../../app/router.js';
import { startable } from '../../app/startable.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { TextField } from '../../parts/fields.js';
import { ButtonIcon } from '../../parts/icon.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances;
/** As many as the service takes. */
const MOST = 4;

/** Finds instances by values of their data. Which ones there are the processes of an application say; without one a person types it. */
export function ByData({ query }: { query: URLSearchParams }): JSX.Element {
  const [typed, setTyped] = useState<string>();
  const [value, setValue] = useState('');
  const names = useSearchable(query.get('applicationId'), query.get('processDefinitionName'));
  const terms = query.getAll('data');
  // Instances of other builds can have other paths, so those that are declared now are only offered.
  const path = typed ?? names[0] ?? '';
  const term = `${path.trim()}:${value}`;
  const isWhole = path.trim() !== '' && value !== '';
  const isFull = isWhole && !terms.includes(term) && terms.length >= MOST;
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
        <TextField
          label={t.dataPath}
          hint={names.length === 0 ? t.dataPathHint : undefined}
          value={path}
          suggestions={names}
          onChange={setTyped}
        />
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
function useSearchable(appId: string | null, process: string | null): readonly string[] {
  const { data = [] } = useAnswer(
    async (signal) => {
      const { processes } = appId === null ? { processes: [] } : await startable(appId, signal);
      const meant = processes.filter((one) => process === null || one.processDefinitionName === process);
      return [...new Set(meant.flatMap(({ searchable = [] }) => searchable))].toSorted();
    },
    [appId, process],
  );
  return data;
}
