type Given<Values> = { [Name in keyof Values]?: NonNullable<Values[Name]> };

/** The members that have a value, such as the filters of a request of which all can be left out. */
export function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Given<Values>;
}
