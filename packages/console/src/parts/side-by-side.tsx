import type { JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';
import { pairLines, type LinePair } from './line-differences.js';

/** Line-by-line comparison of two texts. */
export function SideBySide({
  label,
  before,
  after,
}: {
  label: string;
  before: string;
  after: string;
}): JSX.Element {
  const { parts } = texts;
  return (
    <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
      <table class="versus">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{parts.before}</th>
            <th scope="col">{parts.after}</th>
          </tr>
        </thead>
        <tbody>
          {pairLines(before, after).map((pair, index) => (
            <Line key={index} pair={pair} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ pair: { before, after, isSame } }: { pair: LinePair }): JSX.Element {
  return (
    <tr>
      <td class={classNames(!isSame && before !== undefined && 'is-removed')}>
        {isSame || before === undefined ? before : <del>{before}</del>}
      </td>
      <td class={classNames(!isSame && after !== undefined && 'is-added')}>
        {isSame || after === undefined ? after : <ins>{after}</ins>}
      </td>
    </tr>
  );
}
