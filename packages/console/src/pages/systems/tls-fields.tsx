import type { JSX } from 'preact';
import type { Certificate, SystemResponse } from '../../../../client/src/index.js';
import { Checkbox, TextArea } from '../../parts/fields.js';
import { texts } from '../../texts/texts.js';
import type { TlsDraft } from './connection-draft.js';

const { systems } = texts;
const ROWS = 4;

interface TlsFieldsProps {
  draft: TlsDraft;
  change: (draft: TlsDraft) => void;
  /** Stored certificates, without the key. */
  stored: SystemResponse['tls'];
  /** Whether the stored key must be entered again, because its destination changes. */
  mustRepeatKey: boolean;
}

/** Fields for the certificates of a system, collapsed unless some are stored. */
export function TlsFields({ draft, change, stored, mustRepeatKey }: TlsFieldsProps): JSX.Element {
  const authorities = stored?.caCertificates;
  const client = stored?.clientCertificate;
  const keeps = stored?.hasClientKey === true && !mustRepeatKey;
  const set = (changes: Partial<TlsDraft>): void => change({ ...draft, ...changes });
  return (
    <details open={stored !== undefined}>
      <summary>{systems.certificates}</summary>
      <div class="stack">
        {authorities !== undefined && (
          <Stored
            certificates={authorities}
            label={systems.removeAuthorities}
            isRemoved={draft.removesAuthorities}
            onChange={(removesAuthorities) => set({ removesAuthorities })}
          />
        )}
        <TextArea
          label={systems.caCertificates}
          hint={systems.caCertificatesHint}
          rows={ROWS}
          isCode
          disabled={draft.removesAuthorities}
          value={draft.caCertificates}
          onChange={(caCertificates) => set({ caCertificates })}
        />
        {client !== undefined && (
          <Stored
            certificates={[client]}
            label={systems.removeClient}
            isRemoved={draft.removesClient}
            onChange={(removesClient) => set({ removesClient })}
          />
        )}
        <TextArea
          label={systems.clientCertificate}
          hint={systems.clientCertificateHint}
          rows={ROWS}
          isCode
          disabled={draft.removesClient}
          value={draft.clientCertificate}
          onChange={(clientCertificate) => set({ clientCertificate })}
        />
        <TextArea
          label={systems.clientKey}
          hint={keeps ? systems.secretKept : systems.secretHint}
          error={mustRepeatKey && draft.clientKey.trim() === '' ? systems.secretAgain : undefined}
          rows={ROWS}
          isCode
          disabled={draft.removesClient}
          value={draft.clientKey}
          onChange={(clientKey) => set({ clientKey })}
        />
      </div>
    </details>
  );
}

interface StoredProps {
  certificates: readonly Certificate[];
  label: string;
  isRemoved: boolean;
  onChange: (isRemoved: boolean) => void;
}

function Stored({ certificates, label, isRemoved, onChange }: StoredProps): JSX.Element {
  return (
    <>
      <ul class="plain-list">
        {certificates.map(({ subject, validTo, fingerprint }) => (
          <li key={fingerprint}>{systems.certificate(subject, validTo.slice(0, DATE_LENGTH))}</li>
        ))}
      </ul>
      <Checkbox label={label} isOn={isRemoved} onChange={onChange} />
    </>
  );
}

const DATE_LENGTH = 'YYYY-MM-DD'.length;
