import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** Error message. */
  error?: string | undefined;
  isRequired?: boolean;
  disabled?: boolean;
}

/** Attributes that connect a control to its label, hint and error. */
interface ControlAttributes {
  id: string;
  required: boolean;
  disabled: boolean;
  'aria-invalid': boolean;
  'aria-describedby'?: string;
}

/** Control with label, hint and error. */
export function Field({
  children,
  ...field
}: FieldProps & { children: (attributes: ControlAttributes) => ComponentChildren }): JSX.Element {
  const { label, hint, error, isRequired = false, disabled = false } = field;
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
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
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
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
  /** Suggested values; any other text is allowed. */
  suggestions?: readonly string[];
}

/** Single-line text field. */
export function TextField({
  value,
  onChange,
  type = 'text',
  placeholder = '',
  autocomplete = 'off',
  suggestions = [],
  ...field
}: TextFieldProps): JSX.Element {
  // A number input hides invalid text from scripts, so it could not be reported.
  const kind: object = type === 'number' ? { type: 'text', inputmode: 'decimal' } : { type };
  return (
    <Field {...field}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            value={value}
            placeholder={placeholder}
            autocomplete={autocomplete}
            {...kind}
            {...listOf(attributes, suggestions)}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {suggestions.length > 0 && (
            <datalist id={`${attributes.id}-suggestions`}>
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

/** Connects a text field to its suggestions. */
function listOf({ id }: ControlAttributes, suggestions: readonly string[]): object {
  return suggestions.length === 0 ? {} : { list: `${id}-suggestions` };
}

/** Picker for a local folder. Returns all files in it, recursively. */
export function FolderField({
  onChange,
  ...field
}: FieldProps & { onChange: (files: readonly File[]) => void }): JSX.Element {
  // All browsers support it, but the types do not include it.
  const folder: object = { webkitdirectory: true };
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          {...attributes}
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
  /** Use a monospace font. */
  isCode?: boolean;
}

/** Multi-line text field. */
export function TextArea({
  value,
  onChange,
  rows = 5,
  isCode = false,
  ...field
}: TextAreaProps): JSX.Element {
  return (
    <Field {...field}>
      {(attributes) => (
        <textarea
          {...attributes}
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

/** Option of a select. */
export interface Choice {
  value: string;
  title: string;
}

interface SelectProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  choices: readonly Choice[];
  /** Label of an empty first option. Default: no empty option. */
  empty?: string;
}

export function Select({ value, onChange, choices, empty, ...field }: SelectProps): JSX.Element {
  return (
    <Field {...field}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
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

/** Switch that takes effect at once. `label` is not shown, but read by screen readers. */
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
        // Shows the stored value until the service confirms the change.
        event.currentTarget.checked = isOn;
        onChange(!isOn);
      }}
    />
  );
}
