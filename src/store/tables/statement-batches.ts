const MOST_ROWS = 500;
/** They bound its bytes, too (`max_allowed_packet`), and a long one holds up the connection. */
const MOST_BYTES = 1_048_576;

/**
 * Rows in parts that one statement each can add. A row that is larger than a statement should be stands alone.
 */
export function* statementBatches<Row>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
): Generator<readonly Row[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    const size = bytesOf(row);
    if (index > start && (index - start === MOST_ROWS || bytes + size > MOST_BYTES)) {
      yield rows.slice(start, index);
      start = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (start < rows.length) {
    yield rows.slice(start);
  }
}

/** Values in parts of as many as one statement shall name, the last one shorter. */
export function* inParts<Value>(values: readonly Value[], size = MOST_ROWS): Generator<Value[]> {
  for (let start = 0; start < values.length; start += size) {
    yield values.slice(start, start + size);
  }
}
