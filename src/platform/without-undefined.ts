type WithoutUndefined<Values> = { [Name in keyof Values]?: NonNullable<Values[Name]> };

/** Returns a copy without the members that are undefined, such as filters that a request omits. */
export function withoutUndefined<Values extends object>(values: Values): WithoutUndefined<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<Values>;
}
