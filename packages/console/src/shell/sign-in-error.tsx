import type { JSX } from 'preact';
import { settings } from '../app/session.js';
import { IdTokenError, SignInRefusedError } from '../app/sign-in/errors.js';
import { ErrorNote } from '../parts/error-note.js';
import { texts } from '../texts/texts.js';

const { signIn } = texts;
/** Characters that are shown of what an issuer says. */
const DESCRIPTION = 300;
const { refusals } = signIn;
const KNOWN_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['access_denied', refusals.denied],
  ['login_required', refusals.interaction],
  ['interaction_required', refusals.interaction],
  ['consent_required', refusals.interaction],
  ['account_selection_required', refusals.interaction],
  ['invalid_client', refusals.client],
  ['unauthorized_client', refusals.client],
  ['unsupported_response_type', refusals.client],
  ['invalid_scope', refusals.scope],
  ['invalid_grant', refusals.expired],
  ['server_error', refusals.server],
  ['temporarily_unavailable', refusals.server],
]);

interface Refusal {
  title: string;
  lead: string;
  /** In the words of the issuer. */
  said?: string | null;
}

/** Why a sign-in failed: refused by the issuer, not verified, no answer, or anything else. */
export function SignInError({ error }: { error: unknown }): JSX.Element | null {
  const issuer = settings.value?.issuer;
  if (issuer === undefined || error === undefined) {
    return null;
  }
  const refusal = refusalOf(error, issuer);
  if (refusal === undefined) {
    return <ErrorNote error={error} />;
  }
  const { title, lead, said = null } = refusal;
  return (
    <div class="note note-bad" role="alert">
      <p class="note-title">{title}</p>
      <p>{lead}</p>
      {said !== null && <p>{signIn.itSays(said.slice(0, DESCRIPTION))}</p>}
    </div>
  );
}

function refusalOf(error: unknown, issuer: string): Refusal | undefined {
  if (error instanceof SignInRefusedError) {
    const { code, description } = error;
    const lead = KNOWN_REFUSALS.get(code) ?? refusals.other(code);
    return { title: signIn.refused, lead, said: description };
  }
  if (error instanceof IdTokenError) {
    return { title: signIn.notVerified, lead: signIn.notVerifiedLead(signIn.idTokens[error.fault]) };
  }
  // What goes wrong with the service itself comes as an error of its client.
  return error instanceof TypeError || (error instanceof Error && error.name === 'ErrorTimeout')
    ? { title: signIn.noIssuer, lead: signIn.noIssuerLead(issuer) }
    : undefined;
}
