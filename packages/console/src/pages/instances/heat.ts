import type { ElementStatistics } from '../../../../client/src/index.js';
import type { Mark } from '../../diagram/mark.js';
import { duration } from '../../parts/time.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances.heat;

/** Measure that colors a heat map. */
export type Measure = 'entered' | 'standing' | 'medianMs' | 'p95Ms' | 'incidentRate';

export const MEASURES: readonly Measure[] = ['entered', 'standing', 'medianMs', 'p95Ms', 'incidentRate'];

/** Number of color levels. */
export const LEVELS = 5;

/** Color level and its range of values. */
export interface Level {
  level: number;
  /** Exclusive. */
  above: number;
  upTo: number;
}

/** Reads the measure from a query. Default: the first one. */
export function measureOf(name: string | null): Measure {
  return MEASURES.find((measure) => measure === name) ?? 'entered';
}

/** Formats a value of a measure. */
export function valueText(measure: Measure, value: number | null): string {
  if (value === null) {
    return '–';
  }
  if (measure === 'incidentRate') {
    return `${(value * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`;
  }
  return measure === 'medianMs' || measure === 'p95Ms' ? duration(value) : value.toLocaleString('en');
}

/** Formats the range of a level. */
export function levelText(measure: Measure, { above, upTo }: Level): string {
  return measure === 'entered' || measure === 'standing'
    ? t.counts((Math.floor(above) + 1).toLocaleString('en'), Math.floor(upTo).toLocaleString('en'))
    : t.range(valueText(measure, above), valueText(measure, upTo));
}

/** Divides the range from zero to the largest value into equal levels; none if there are no values. */
export function levelsOf(elements: readonly ElementStatistics[], measure: Measure): readonly Level[] {
  const largest = Math.max(0, ...elements.map((element) => element[measure] ?? 0));
  // With small whole numbers, some levels would be empty.
  const isWhole = measure !== 'incidentRate';
  const count = largest === 0 ? 0 : isWhole ? Math.min(LEVELS, largest) : LEVELS;
  return Array.from({ length: count }, (_, index) => ({
    level: levelAt(index, count),
    above: (largest * index) / count,
    // Rounding could put the largest value above the last level.
    upTo: index + 1 === count ? largest : (largest * (index + 1)) / count,
  }));
}

/** Aligns levels so that the largest value always has the last one. */
function levelAt(index: number, count: number): number {
  return LEVELS - count + index + 1;
}

/** Returns diagram marks with level and value. Elements without a value have no mark. */
export function heatMarks(
  elements: readonly ElementStatistics[],
  measure: Measure,
  levels: readonly Level[],
): readonly Mark[] {
  return elements.flatMap((element): Mark[] => {
    const value = element[measure] ?? 0;
    const found = levels.find(({ above, upTo }) => value > above && value <= upTo);
    return found === undefined
      ? []
      : [
          {
            elementId: element.bpmnElementId,
            className: `heat-${found.level}`,
            text: valueText(measure, value),
            title: t.label(
              element.name ?? element.bpmnElementId,
              t.measures[measure],
              valueText(measure, value),
            ),
          },
        ];
  });
}

/** Sorts by measure, highest first. Elements without a value keep the order of the file. */
export function byMeasure(
  elements: readonly ElementStatistics[],
  measure: Measure,
): readonly ElementStatistics[] {
  return elements.toSorted((one, other) => (other[measure] ?? -1) - (one[measure] ?? -1));
}
