/**
 * Names for a person who exists only in evaluation mode: `jane.doe` and `jane.doe@example.com` are Jane Doe.
 * @param subject the `sub` of the token
 */
export function sampleNames(subject: string): Record<string, string> {
  const words = (subject.split('@')[0] ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first = subject, ...rest] = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    given_name: first,
    family_name: rest.length > 0 ? rest.join(' ') : 'Evaluation',
    preferred_username: subject,
  };
}
