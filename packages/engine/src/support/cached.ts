/** Returns the cached value of a key, creating it on first use. */
export function cached<Key, Value>(
  known: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const value = known.get(key);
  if (value !== undefined) {
    return value;
  }
  const made = make();
  known.set(key, made);
  return made;
}

/** Groups items by key, keeping their order. */
export function groupedBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    cached(groups, keyOf(item), () => []).push(item);
  }
  return groups;
}
