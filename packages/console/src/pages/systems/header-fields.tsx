import type { JSX } from 'preact';
import { Button } from '../../parts/button.js';
import { Checkbox, TextField } from '../../parts/fields.js';
import { texts } from '../../texts/texts.js';
import { headersOf, rowFaults, type HeaderRow, type HeadersDraft } from './headers-draft.js';

const { systems } = texts;
const NEW_ROW: HeaderRow = { name: '', value: '' };

interface HeaderFieldsProps {
  draft: HeadersDraft;
  change: (draft: HeadersDraft) => void;
  /** Names of the stored headers. */
  stored: readonly string[] | undefined;
  /** Whether the stored values must be entered again, because their destination changes. */
  mustRepeat: boolean;
  /** Error message of the service. */
  error: string | undefined;
}

/** Editor of static headers: rows of name and value. */
export function HeaderFields({ draft, change, stored, mustRepeat, error }: HeaderFieldsProps): JSX.Element {
  const faults = rowFaults(draft);
  const isMissing = mustRepeat && headersOf(draft) === undefined;
  const setRow = (index: number, changes: Partial<HeaderRow>): void =>
    change({ ...draft, rows: draft.rows.map((row, at) => (at === index ? { ...row, ...changes } : row)) });
  return (
    <details open={stored !== undefined || mustRepeat || error !== undefined}>
      <summary>{systems.headers}</summary>
      <div class="stack">
        <p class="field-hint">{stored === undefined ? systems.headersHint : systems.headersKept}</p>
        {stored !== undefined && (
          <>
            <p>{systems.headersStored(stored.join(', '))}</p>
            <Checkbox
              label={systems.removeHeaders}
              isOn={draft.removes}
              onChange={(removes) => change({ ...draft, removes })}
            />
          </>
        )}
        {(isMissing || error !== undefined) && (
          <p class="field-error">{isMissing ? systems.secretAgain : error}</p>
        )}
        {draft.rows.map((row, index) => (
          <Row
            key={index}
            number={index + 1}
            row={row}
            fault={faults[index] ?? {}}
            disabled={draft.removes}
            onChange={(changes) => setRow(index, changes)}
            onRemove={() => change({ ...draft, rows: draft.rows.filter((_, at) => at !== index) })}
          />
        ))}
        <div>
          <Button
            disabled={draft.removes}
            onClick={() => {
              // Prefills the stored names, so only the values have to be typed.
              const known = (stored ?? []).map((name) => ({ name, value: '' }));
              const first = known.length > 0 ? known : [NEW_ROW];
              change({ ...draft, rows: draft.rows.length === 0 ? first : [...draft.rows, NEW_ROW] });
            }}
          >
            {systems.addHeader}
          </Button>
        </div>
      </div>
    </details>
  );
}

interface RowProps {
  number: number;
  row: HeaderRow;
  fault: Partial<HeaderRow>;
  disabled: boolean;
  onChange: (changes: Partial<HeaderRow>) => void;
  onRemove: () => void;
}

function Row({ number, row, fault, disabled, onChange, onRemove }: RowProps): JSX.Element {
  return (
    <div class="stack">
      <TextField
        label={systems.headerNumbered(number)}
        error={fault.name}
        disabled={disabled}
        value={row.name}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label={systems.headerValue(number)}
        type="password"
        autocomplete="new-password"
        error={fault.value}
        disabled={disabled}
        value={row.value}
        onChange={(value) => onChange({ value })}
      />
      <div>
        <Button label={systems.removeHeader(number)} onClick={onRemove}>
          {texts.parts.remove}
        </Button>
      </div>
    </div>
  );
}
