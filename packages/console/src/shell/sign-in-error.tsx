import type { JSX } from 'preact';
import { settings } from '../app/session.js';
import { IdTokenError, SignInRefusedError } from '../app/sign-in/errors.js';
import { ErrorNote } from '../parts/error-note.js';
import { texts } from '../texts/texts.js';

const { signIn } = texts;
/** Maximum length of the issuer's message that is shown. */
const MAX_MESSAGE = 300;
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
  /** Message of the issuer. */
  message?: string | null;
}

/** Explains why a sign-in failed: refused by the issuer, not verified, no answer, or another error. */
export function SignInError({ error }: { error: unknown }): JSX.Element | null {
  const issuer = settings.value?.issuer;
  if (issuer === undefined || error === undefined) {
    return null;
  }
  const refusal = refusalOf(error, issuer);
  if (refusal === undefined) {
    return <ErrorNote error={error} />;
  }
  const { title, lead, message = null } = refusal;
  return (
    <div class="note note-bad" role="alert">
      <p class="note-title">{title}</p>
      <p>{lead}</p>
      {message !== null && <p>{signIn.itSays(message.slice(0, MAX_MESSAGE))}</p>}
    </div>
  );
}

function refusalOf(error: unknown, issuer: string): Refusal | undefined {
  if (error instanceof SignInRefusedError) {
    const { code, description } = error;
    const lead = KNOWN_REFUSALS.get(code) ?? refusals.other(code);
    return { title: signIn.refused, lead, message: description };
  }
  if (error instanceof IdTokenError) {
    return { title: signIn.notVerified, lead: signIn.notVerifiedLead(signIn.idTokens[error.fault]) };
  }
  // Errors of the service itself come as errors of its client.
  return error instanceof TypeError || (error instanceof Error && error.name === 'ErrorTimeout')
    ? { title: signIn.noIssuer, lead: signIn.noIssuerLead(issuer) }
    : undefined;
}
