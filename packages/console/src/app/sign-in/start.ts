import { readSettings, type Settings } from '../settings.js';
import { session, settings } from '../session.js';
import type { CompanySignIn } from './company.js';
import { signInAgain as signInAgainAsPerson } from './evaluation.js';

let company: CompanySignIn | undefined;

/** Finds out whether somebody is signed in; what goes wrong on the way is shown where a person signs in. */
export async function startSession(): Promise<void> {
  try {
    const known = await readSettings();
    settings.value = known;
    if (!(await resume(known)) && session.value.state === 'starting') {
      session.value = { state: 'signed-out' };
    }
  } catch (error) {
    session.value = { state: 'signed-out', error };
  }
}

/** Leads to the issuer of the company, and back to this page. */
export async function signInAtCompany(): Promise<void> {
  await company?.start();
}

/** @returns whether another page is about to come */
async function resume(known: Settings): Promise<boolean> {
  if (known.evaluation) {
    await signInAgainAsPerson();
    return false;
  }
  const { CompanySignIn } = await import('./company.js');
  company = CompanySignIn.of(known);
  return (await company?.resume()) ?? false;
}

/** Signs in anew where a sign-in has ended: in evaluation mode at once, at the company by way of the issuer. */
export async function signInAgain(): Promise<void> {
  if (settings.value?.evaluation === true) {
    await signInAgainAsPerson();
  } else {
    await signInAtCompany();
  }
}
