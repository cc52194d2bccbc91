/** Bits of keys that we sign with (NIST SP 800-57 for the least of them); the time for a signature grows with their cube. */
const RSA_BITS = { min: 2_048, max: 4_096 };

/** @param bits of the modulus; undefined of a key that has none, whose size its curve says */
export function isRsaSize(bits: number | undefined): boolean {
  return bits === undefined || (bits >= RSA_BITS.min && bits <= RSA_BITS.max);
}
