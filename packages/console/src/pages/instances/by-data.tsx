import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ServiceError } from '../../../../client/src/index.js';
import { loadActiveBuildProcesses } from '../../app/active-build-processes.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { TextField } from '../../parts/fields.js';
import { ButtonIcon } from '../../parts/icon.js';
import { texts } from '../../texts/texts.js';
import type { DataTerm } from './data-search.js';

const t = texts.instances;
const NOT_FOUND = 404;
/** Limit of the service. */
const MAX_TERMS = 4;

interface ByDataProps {
  terms: readonly DataTerm[];
  change: (terms: readonly DataTerm[]) => void;
  /** Application whose declared paths are suggested. Other builds can have other paths, so any path can be typed. */
  appId: string;
  processName: string;
}

/** Fields to search instances by data, one row per value. */
export function ByData({ terms, change, appId, processName }: ByDataProps): JSX.Element {
  // Reads the paths on focus, because the user may still be typing the application.
  const [source, setSource] = useState({ appId, processName });
  const { names, hint } = useSearchable(source.appId, source.processName);
  const set = (index: number, changes: Partial<DataTerm>): void =>
    change(terms.map((term, at) => (at === index ? { ...term, ...changes } : term)));
  return (
    <fieldset class="by-data" onFocusIn={() => setSource({ appId, processName })}>
      <legend>{t.byData}</legend>
      <p class="field-hint">{hint}</p>
      {terms.map(({ path, value }, index) => (
        <div key={index} class="by-data-row">
          <TextField
            label={t.dataPath}
            value={path}
            suggestions={names}
            onChange={(next) => set(index, { path: next })}
            error={path.trim() === '' && value !== '' ? t.dataPathMissing : undefined}
          />
          <TextField
            label={t.dataValue}
            value={value}
            onChange={(next) => set(index, { value: next, path: path === '' ? (names[0] ?? '') : path })}
          />
          {terms.length > 1 && (
            <Button
              kind="bare"
              label={t.withoutData(index + 1)}
              onClick={() => change(terms.filter((_term, at) => at !== index))}
            >
              <ButtonIcon name="close" />
            </Button>
          )}
        </div>
      ))}
      {terms.length < MAX_TERMS && (
        <Button onClick={() => change([...terms, { path: '', value: '' }])}>{t.moreData}</Button>
      )}
    </fieldset>
  );
}

/** Loads the searchable paths of an application's active build, or of one of its processes. */
function useSearchable(appId: string, process: string): { names: readonly string[]; hint: string } {
  const { data = [], error } = useAnswer(
    async (signal) => {
      const { processes } = appId === '' ? { processes: [] } : await loadActiveBuildProcesses(appId, signal);
      const meant = processes.filter((one) => process === '' || one.processDefinitionName === process);
      return [...new Set(meant.flatMap(({ searchable = [] }) => searchable))].toSorted();
    },
    [appId, process],
  );
  if (data.length > 0) {
    return { names: data, hint: t.dataHint(data.join(', ')) };
  }
  const isUnknown = error instanceof ServiceError && error.status === NOT_FOUND;
  return { names: [], hint: isUnknown ? t.noSuchApplication(appId) : t.dataHint(t.dataExample) };
}
