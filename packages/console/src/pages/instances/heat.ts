import type { ElementStatistics } from '../../../../client/src/index.js';
import type { Mark } from '../../diagram/mark.js';
import { duration } from '../../parts/time.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances.heat;

/** By what a heat map is coloured. */
export type Measure = 'entered' | 'standing' | 'medianMs' | 'p95Ms' | 'incidentRate';

export const MEASURES: readonly Measure[] = ['entered', 'standing', 'medianMs', 'p95Ms', 'incidentRate'];

/** Steps of the colours. */
export const LEVELS = 5;

/** A step, and the values that have it. */
export interface Level {
  level: number;
  /** Exclusive. */
  above: number;
  upTo: number;
}

/** The measure that a query names; the first one without it. */
export function measureOf(name: string | null): Measure {
  return MEASURES.find((measure) => measure === name) ?? 'entered';
}

/** A value of a measure for a person. */
export function valueText(measure: Measure, value: number | null): string {
  if (value === null) {
    return '–';
  }
  if (measure === 'incidentRate') {
    return `${(value * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`;
  }
  return measure === 'medianMs' || measure === 'p95Ms' ? duration(value) : value.toLocaleString('en');
}

/** What values a step has, for a person. */
export function levelText(measure: Measure, { above, upTo }: Level): string {
  return measure === 'entered' || measure === 'standing'
    ? t.counts((Math.floor(above) + 1).toLocaleString('en'), Math.floor(upTo).toLocaleString('en'))
    : t.range(valueText(measure, above), valueText(measure, upTo));
}

/** Equal steps from nothing to the largest value; none where there is no value. */
export function levelsOf(elements: readonly ElementStatistics[], measure: Measure): readonly Level[] {
  const largest = Math.max(0, ...elements.map((element) => element[measure] ?? 0));
  // Whole numbers below the number of steps have no value in some of them.
  const isWhole = measure !== 'incidentRate';
  const count = largest === 0 ? 0 : isWhole ? Math.min(LEVELS, largest) : LEVELS;
  return Array.from({ length: count }, (_, index) => ({
    level: levelAt(index, count),
    above: (largest * index) / count,
    // Rounded, the last step could end below the largest value.
    upTo: index + 1 === count ? largest : (largest * (index + 1)) / count,
  }));
}

/** The largest value has the last step, however many there are. */
function levelAt(index: number, count: number): number {
  return LEVELS - count + index + 1;
}

/** Marks for the diagram: a step of the colours, and the value itself. Elements without a value have none. */
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
            title: t.told(
              element.name ?? element.bpmnElementId,
              t.measures[measure],
              valueText(measure, value),
            ),
          },
        ];
  });
}

/** Most of the measure first; those without it as in the file. */
export function byMeasure(
  elements: readonly ElementStatistics[],
  measure: Measure,
): readonly ElementStatistics[] {
  return elements.toSorted((one, other) => (other[measure] ?? -1) - (one[measure] ?? -1));
}
