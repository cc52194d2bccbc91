import type { ConsoleSettings } from '../../../../client/src/index.js';
import { readSettings } from '../settings.js';
import { session, settings } from '../session.js';
import type { CompanySignIn } from './company.js';
import { signInAgain as signInAgainAsPerson } from './evaluation.js';

let company: CompanySignIn | undefined;

/** Starts or resumes the session. Errors are shown on the sign-in page. */
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

/** Redirects to the company's issuer, which redirects back to this page. */
export async function signInAtCompany(): Promise<void> {
  await company?.start();
}

/** @returns whether a redirect follows */
async function resume(known: ConsoleSettings): Promise<boolean> {
  if (known.evaluation) {
    await signInAgainAsPerson();
    return false;
  }
  const { CompanySignIn } = await import('./company.js');
  company = CompanySignIn.of(known);
  return (await company?.resume()) ?? false;
}

/** Signs in again after a session has ended: directly in evaluation mode, otherwise through the issuer. */
export async function signInAgain(): Promise<void> {
  if (settings.value?.evaluation === true) {
    await signInAgainAsPerson();
  } else {
    await signInAtCompany();
  }
}
