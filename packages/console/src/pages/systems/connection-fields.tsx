import type { JSX } from 'preact';
import type { SystemResponse } from '../../../../client/src/index.js';
import { Select, TextArea, TextField } from '../../parts/fields.js';
import { texts } from '../../texts/texts.js';
import {
  timeoutFault,
  usualScheme,
  type AuthorizationType,
  type ConnectionDraft,
  type ProofKind,
  type RepeatedSecrets,
} from './connection-draft.js';
import { HeaderFields } from './header-fields.js';
import { TlsFields } from './tls-fields.js';

const { systems } = texts;
const TYPES: readonly AuthorizationType[] = ['NO_AUTH', 'SERVICE_ACCOUNT', 'API_KEY'];
const PROOFS: readonly ProofKind[] = ['clientSecret', 'privateKey'];

interface DraftProps {
  draft: ConnectionDraft;
  change: (changes: Partial<ConnectionDraft>) => void;
  /** Whether a secret is stored, which an empty field keeps. */
  hasSecret: boolean;
  /** Stored secrets that must be entered again. */
  repeated?: RepeatedSecrets;
  /** Stored certificates and header names. */
  stored?: Pick<SystemResponse, 'tls' | 'headerNames'>;
  /** Error messages of the service by field. */
  errors?: Readonly<Record<string, string>>;
}

/** Fields of a system and its connection. */
export function ConnectionFields(props: DraftProps): JSX.Element {
  const { draft, change, repeated, stored, errors = {} } = props;
  const errorOf = (name: string): string | undefined => errors[name] ?? errors[`payload.${name}`];
  return (
    <>
      <TextField
        label={systems.name}
        error={errorOf('name')}
        value={draft.name}
        isRequired
        onChange={(name) => change({ name })}
      />
      <TextField
        label={systems.baseUrl}
        hint={systems.baseUrlHint}
        error={errorOf('baseUrl')}
        type="url"
        value={draft.baseUrl}
        isRequired
        onChange={(baseUrl) => change({ baseUrl })}
      />
      <TextArea
        label={systems.description}
        hint={systems.descriptionHint}
        rows={2}
        value={draft.description}
        onChange={(description) => change({ description })}
      />
      <Select
        label={systems.authorization}
        value={draft.type}
        choices={TYPES.map((type) => ({ value: type, title: systems.authorizations[type] }))}
        onChange={(type) => change({ type: TYPES.find((each) => each === type) ?? 'NO_AUTH', secret: '' })}
      />
      {draft.type === 'SERVICE_ACCOUNT' && <AccountFields {...props} />}
      {draft.type === 'API_KEY' && <KeyFields {...props} />}
      <TlsFields
        draft={draft.tls}
        change={(tls) => change({ tls })}
        stored={stored?.tls}
        mustRepeatKey={repeated?.clientKey === true}
      />
      <HeaderFields
        draft={draft.headers}
        change={(headers) => change({ headers })}
        stored={stored?.headerNames}
        mustRepeat={repeated?.headers === true}
        error={errorOf('headers')}
      />
      <TextField
        label={systems.timeoutMs}
        hint={systems.timeoutMsHint}
        error={timeoutFault(draft) ?? errorOf('timeoutMs')}
        type="number"
        value={draft.timeoutMs}
        onChange={(timeoutMs) => change({ timeoutMs })}
      />
    </>
  );
}

function AccountFields(props: DraftProps): JSX.Element {
  const { draft, change } = props;
  return (
    <>
      <TextField
        label={systems.clientId}
        value={draft.clientId}
        isRequired
        onChange={(clientId) => change({ clientId })}
      />
      <TextField
        label={systems.tokenEndpoint}
        type="url"
        value={draft.identityProviderUrl}
        isRequired
        onChange={(identityProviderUrl) => change({ identityProviderUrl })}
      />
      <TextField
        label={systems.scope}
        hint={systems.scopeHint}
        value={draft.scope}
        onChange={(scope) => change({ scope })}
      />
      <TextArea
        label={systems.tokenParameters}
        hint={systems.tokenParametersHint}
        rows={2}
        isCode
        value={draft.tokenParameters}
        onChange={(tokenParameters) => change({ tokenParameters })}
      />
      <Select
        label={systems.proof}
        value={draft.proof}
        choices={PROOFS.map((proof) => ({ value: proof, title: systems.proofs[proof] }))}
        onChange={(proof) =>
          change({ proof: proof === 'privateKey' ? 'privateKey' : 'clientSecret', secret: '' })
        }
      />
      <SecretFields {...props} />
    </>
  );
}

function KeyFields(props: DraftProps): JSX.Element {
  const { draft, change } = props;
  return (
    <>
      <TextField
        label={systems.headerName}
        value={draft.headerName}
        isRequired
        onChange={(headerName) => {
          // A prefilled scheme changes with the header; a typed one stays.
          const isUsual = draft.scheme === usualScheme(draft.headerName);
          change({ headerName, ...(isUsual ? { scheme: usualScheme(headerName) } : {}) });
        }}
      />
      <TextField
        label={systems.scheme}
        hint={systems.schemeHint}
        value={draft.scheme}
        onChange={(scheme) => change({ scheme })}
      />
      <SecretFields {...props} />
    </>
  );
}

/** Fields for the secret of the connection. */
export function SecretFields({ draft, change, hasSecret, repeated }: DraftProps): JSX.Element {
  const mustRepeat = repeated?.account === true;
  const isPem = draft.type === 'SERVICE_ACCOUNT' && draft.proof === 'privateKey';
  const shared = {
    label: draft.type === 'API_KEY' ? systems.apiKey : systems.proofs[draft.proof],
    hint: hasSecret && !mustRepeat ? systems.secretKept : systems.secretHint,
    error: mustRepeat && draft.secret === '' ? systems.secretAgain : undefined,
    value: draft.secret,
    isRequired: !hasSecret || mustRepeat,
    onChange: (secret: string) => change({ secret }),
  };
  return isPem ? (
    <>
      <TextArea {...shared} isCode />
      <TextField label={systems.keyId} value={draft.keyId} onChange={(keyId) => change({ keyId })} />
    </>
  ) : (
    <TextField {...shared} type="password" autocomplete="new-password" />
  );
}
