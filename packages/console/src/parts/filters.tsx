import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../app/router.js';
import { Button } from './button.js';
import { Select, TextField, type Choice } from './fields.js';
import { texts } from '../texts/texts.js';

/** Filter stored in the query: a select if it has choices, otherwise a text field. */
export interface Filter {
  name: string;
  label: string;
  choices?: readonly Choice[];
  type?: 'text' | 'datetime-local';
}

interface FiltersProps {
  filters: readonly Filter[];
  query: URLSearchParams;
  /** Additional fields of the search; receives what is typed in the filters. */
  more?: (typed: Readonly<Record<string, string>>) => ComponentChildren;
  /** Applies the additional fields before the query changes. */
  onSearch?: () => void;
  /** Clears the additional fields. */
  onClear?: () => void;
}

/** Filters of a list. Text is applied by Enter or the button, so that typing sends no requests. */
export function Filters({ filters, query, more, onSearch, onClear }: FiltersProps): JSX.Element {
  const known = valuesOf(filters, query);
  const [typed, setTyped] = useState(known);
  const key = JSON.stringify(known);
  // Links and the back button change the filters.
  useEffect(() => setTyped(known), [key]);
  const change = (name: string, value: string): void => setTyped({ ...typed, [name]: value });
  const search = (values: Record<string, string>): void => {
    onSearch?.();
    setQuery(values);
  };
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(typed);
      }}
    >
      {filters.map(({ name, label, choices, type = 'text' }) =>
        choices === undefined ? (
          <TextField
            key={name}
            label={label}
            type={type}
            value={typed[name] ?? ''}
            onChange={(value) => change(name, value)}
          />
        ) : (
          <Select
            key={name}
            label={label}
            value={typed[name] ?? ''}
            empty={texts.parts.any}
            choices={choices}
            onChange={(value) => {
              change(name, value);
              search({ ...typed, [name]: value });
            }}
          />
        ),
      )}
      {more?.(typed)}
      <div class="filters-buttons">
        <Button type="submit" kind="primary">
          {texts.parts.search}
        </Button>
        <Button
          onClick={() => {
            onClear?.();
            setTyped(noValues(filters));
            setQuery(noValues(filters));
          }}
        >
          {texts.parts.clear}
        </Button>
      </div>
    </form>
  );
}

function noValues(filters: readonly Filter[]): Record<string, string> {
  return Object.fromEntries(filters.map(({ name }) => [name, '']));
}

function valuesOf(filters: readonly Filter[], query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? '']));
}

/** Makes choices from values of the service. */
export function choicesOf(values: readonly string[]): readonly Choice[] {
  return values.map((value) => ({ value, title: value.toLowerCase().replaceAll('_', ' ') }));
}
