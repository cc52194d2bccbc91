/** Characters of a resource name (docs/contract.md, section 2.1). */
export const RESOURCE_NAME = /^[A-Za-z0-9[\]().\-_]*$/;
export const RESOURCE_NAME_MAX_LENGTH = 255;

/** Returns the key that the unique index compares: names that differ only by case are the same. */
export function nameKey(resourceName: string): string {
  return resourceName.toLowerCase();
}
