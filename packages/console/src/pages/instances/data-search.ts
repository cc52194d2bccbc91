import { signal } from '@preact/signals';
import { signIns } from '../../app/session.js';

/** Path and value to search for in the data of instances. */
export interface DataTerm {
  path: string;
  value: string;
}

/** Values can be personal, so they are never in the address. They last until the page is reloaded or another user signs in. */
const searched = signal<{ signIn: number; terms: readonly DataTerm[] }>({ signIn: 0, terms: [] });

/** Returns the current search terms. */
export function searchedData(): readonly DataTerm[] {
  const { signIn, terms } = searched.value;
  return signIn === signIns.value ? terms : [];
}

/** Replaces the search terms. */
export function searchData(terms: readonly DataTerm[]): void {
  searched.value = { signIn: signIns.value, terms };
}
