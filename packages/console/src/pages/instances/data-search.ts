import { signal } from '@preact/signals';
import { signIns } from '../../app/session.js';

/** A value that the data of an instance must have at a path. */
export interface DataTerm {
  path: string;
  value: string;
}

/** Values can be personal, so they are in no address: they last as long as the page is not loaded again and the person stays. */
const searched = signal<{ signIn: number; terms: readonly DataTerm[] }>({ signIn: 0, terms: [] });

/** What is searched for now. */
export function searchedData(): readonly DataTerm[] {
  const { signIn, terms } = searched.value;
  return signIn === signIns.value ? terms : [];
}

/** Searches for these values, in place of those before. */
export function searchData(terms: readonly DataTerm[]): void {
  searched.value = { signIn: signIns.value, terms };
}
