const MAX_ROWS = 500;
/** Servers limit the size of statements (`max_allowed_packet`), and a long one blocks its connection. */
const MAX_BYTES = 1_048_576;

/** Splits rows into batches for one statement each. A row that exceeds the size limit gets a batch of its own. */
export function* statementBatches<Row>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
): Generator<readonly Row[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    const size = bytesOf(row);
    if (index > start && (index - start === MAX_ROWS || bytes + size > MAX_BYTES)) {
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

/** Splits values into parts of at most `size` values, the maximum for one statement by default. */
export function* inParts<Value>(values: readonly Value[], size = MAX_ROWS): Generator<Value[]> {
  for (let start = 0; start < values.length; start += size) {
    yield values.slice(start, start + size);
  }
}
