import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** What is wrong with it. */
  error?: string | undefined;
  isRequired?: boolean;
  disabled?: boolean;
}

/** Attributes by which a control belongs to its label, hint and error. */
interface Wiring {
  id: string;
  required: boolean;
  disabled: boolean;
  'aria-invalid': boolean;
  'aria-describedby'?: string;
}

/** A label, a control, and what is to be said about it. */
export function Field({
  children,
  ...field
}: FieldProps & { children: (wiring: Wiring) => ComponentChildren }): JSX.Element {
  const { label, hint, error, isRequired = false, disabled = false } = field;
  const id = useId();
  const told = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div class={classNames('field', error !== undefined && 'is-wrong')}>
      <label for={id}>
        {label} {isRequired && <span class="quiet">({texts.parts.required})</span>}
      </label>
      {children({
        id,
        required: isRequired,
        disabled,
        'aria-invalid': error !== undefined,
        ...(told === '' ? {} : { 'aria-describedby': told }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'password' | 'search' | 'number' | 'url' | 'date' | 'datetime-local';
  placeholder?: string;
  autocomplete?: string;
  /** What is offered to be chosen, while anything else can be typed. */
  suggestions?: readonly string[];
}

/** A line of text. */
export function TextField({
  value,
  onChange,
  type = 'text',
  placeholder = '',
  autocomplete = 'off',
  suggestions = [],
  ...field
}: TextFieldProps): JSX.Element {
  // A browser keeps what is no number to itself, so that nobody could say what is wrong with it.
  const kind: object = type === 'number' ? { type: 'text', inputmode: 'decimal' } : { type };
  return (
    <Field {...field}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            value={value}
            placeholder={placeholder}
            autocomplete={autocomplete}
            {...kind}
            {...listOf(wiring, suggestions)}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {suggestions.length > 0 && (
            <datalist id={`${wiring.id}-suggestions`}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** That a line of text has suggestions, where it has. */
function listOf({ id }: Wiring, suggestions: readonly string[]): object {
  return suggestions.length === 0 ? {} : { list: `${id}-suggestions` };
}

/** A folder of the person's machine: its files, and those of the folders in it. */
export function FolderField({
  onChange,
  ...field
}: FieldProps & { onChange: (files: readonly File[]) => void }): JSX.Element {
  // Every browser has it, and no type.
  const folder: object = { webkitdirectory: true };
  return (
    <Field {...field}>
      {(wiring) => (
        <input
          {...wiring}
          type="file"
          {...folder}
          onChange={(event) => onChange([...(event.currentTarget.files ?? [])])}
        />
      )}
    </Field>
  );
}

interface TextAreaProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  rows?: number;
  /** Code is written in letters of one width. */
  isCode?: boolean;
}

/** Several lines of text. */
export function TextArea({
  value,
  onChange,
  rows = 5,
  isCode = false,
  ...field
}: TextAreaProps): JSX.Element {
  return (
    <Field {...field}>
      {(wiring) => (
        <textarea
          {...wiring}
          rows={rows}
          value={value}
          spellcheck={!isCode}
          class={isCode ? 'code' : ''}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Something to choose. */
export interface Choice {
  value: string;
  title: string;
}

interface SelectProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  choices: readonly Choice[];
  /** Text of an empty choice that stands before the others; there is none without it. */
  empty?: string;
}

/** One of several choices. */
export function Select({ value, onChange, choices, empty, ...field }: SelectProps): JSX.Element {
  return (
    <Field {...field}>
      {(wiring) => (
        <select {...wiring} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {empty !== undefined && <option value="">{empty}</option>}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckboxProps {
  label: ComponentChildren;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
}

/** Yes or no. */
export function Checkbox({ label, isOn, onChange, disabled = false }: CheckboxProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

/** On or off, with effect at once. `label` is read, not shown. */
export function Switch({
  label,
  isOn,
  onChange,
  disabled = false,
}: CheckboxProps & { label: string }): JSX.Element {
  return (
    <input
      type="checkbox"
      role="switch"
      class="switch"
      aria-label={label}
      title={label}
      checked={isOn}
      disabled={disabled}
      onChange={(event) => {
        // What is shown is what the service has stored.
        event.currentTarget.checked = isOn;
        onChange(!isOn);
      }}
    />
  );
}
