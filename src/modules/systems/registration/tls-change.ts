import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { isKeyOf } from '../../../common/tls/certificates.js';
import { tlsOf, type UpdateTlsDto } from '../model/tls.request.dto.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** The columns of what a system adds to TLS. */
export type StoredTls = Pick<SystemEntity, 'caCertificates' | 'clientCertificate' | 'clientKey'>;

/**
 * Who is trusted and what is shown after a change; the key as it was sent, or sealed as it is stored.
 * @param tls what to change: null removes all
 * @throws ValidationFailedError when the key is not that of the certificate
 */
export function changedTls(
  stored: StoredTls,
  tls: UpdateTlsDto | null | undefined,
  sentKey: string | undefined,
): StoredTls {
  if (tls === null) {
    return { caCertificates: null, clientCertificate: null, clientKey: null };
  }
  const { caCertificates, clientCertificate } = tls ?? {};
  const sent = tlsOf({
    caCertificates: caCertificates ?? undefined,
    clientCertificate: clientCertificate ?? undefined,
  });
  const certificate = clientCertificate === undefined ? stored.clientCertificate : sent.clientCertificate;
  requireOwnKey(certificate, sentKey);
  return {
    caCertificates: caCertificates === undefined ? stored.caCertificates : sent.caCertificates,
    clientCertificate: certificate,
    clientKey: certificate === null ? null : (sentKey ?? stored.clientKey),
  };
}

function requireOwnKey(certificate: string | null, key: string | undefined): void {
  if (key !== undefined && (certificate === null || !isKeyOf(key, certificate))) {
    const rule = certificate === null ? 'needs a clientCertificate' : 'must be the key of clientCertificate';
    throw new ValidationFailedError([{ field: 'tls.clientKey', rule }]);
  }
}
