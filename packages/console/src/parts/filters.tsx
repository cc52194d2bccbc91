import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../app/router.js';
import { Button } from './button.js';
import { Select, TextField, type Choice } from './fields.js';
import { texts } from '../texts/texts.js';

/** A filter: a member of the query. One with choices is chosen, any other is typed. */
export interface Filter {
  name: string;
  label: string;
  choices?: readonly Choice[];
  type?: 'text' | 'datetime-local';
}

interface FiltersProps {
  filters: readonly Filter[];
  query: URLSearchParams;
  /** More fields of the same search, beside what is typed in these. */
  more?: (typed: Readonly<Record<string, string>>) => ComponentChildren;
  /** Takes over the other fields, before the query is changed. */
  onSearch?: () => void;
  /** Empties the other fields. */
  onClear?: () => void;
}

/** Fields that narrow a list. What is typed is asked for with Enter or the button, so the service is not asked at each letter. */
export function Filters({ filters, query, more, onSearch, onClear }: FiltersProps): JSX.Element {
  const known = valuesOf(filters, query);
  const [typed, setTyped] = useState(known);
  const key = JSON.stringify(known);
  // A link, or a button of the browser, leads to other filters.
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
            setTyped(emptied(filters));
            setQuery(emptied(filters));
          }}
        >
          {texts.parts.clear}
        </Button>
      </div>
    </form>
  );
}

function emptied(filters: readonly Filter[]): Record<string, string> {
  return Object.fromEntries(filters.map(({ name }) => [name, '']));
}

function valuesOf(filters: readonly Filter[], query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? '']));
}

/** Choices that are told as the service names them. */
export function choicesOf(values: readonly string[]): readonly Choice[] {
  return values.map((value) => ({ value, title: value.toLowerCase().replaceAll('_', ' ') }));
}
