import { describe, expect, it } from 'vitest';
import type { ElementStatistics } from '../../../packages/client/src/index.js';
import {
  byMeasure,
  heatMarks,
  levelsOf,
  levelText,
} from '../../../packages/console/src/pages/instances/heat.js';

const element = (bpmnElementId: string, figures: Partial<ElementStatistics>): ElementStatistics => ({
  bpmnElementId,
  name: null,
  entered: 0,
  standing: 0,
  visits: 0,
  medianMs: null,
  p95Ms: null,
  incidents: 0,
  openIncidents: 0,
  incidentRate: null,
  ...figures,
});
const entered = (...counts: number[]): ElementStatistics[] =>
  counts.map((count, index) => element(`e${index}`, { entered: count }));

describe('a heat map', () => {
  it('marks the largest value despite rounding', () => {
    const elements = [element('worst', { incidentRate: 0.83 }), element('other', { incidentRate: 0.1 })];
    const marks = heatMarks(elements, 'incidentRate', levelsOf(elements, 'incidentRate'));
    expect(marks.map(({ elementId, className }) => `${elementId} ${className}`)).toEqual([
      'worst heat-5',
      'other heat-1',
    ]);
  });

  it('has equal levels up to the largest value, with whole numbers for counts', () => {
    const levels = levelsOf(entered(0, 12, 3), 'entered');
    expect(levels.map((level) => levelText('entered', level))).toEqual([
      '1 to 2',
      '3 to 4',
      '5 to 7',
      '8 to 9',
      '10 to 12',
    ]);
    expect(levelsOf(entered(2, 1), 'entered').map((level) => levelText('entered', level))).toEqual([
      '1',
      '2',
    ]);
    const times = levelsOf([element('a', { medianMs: 5_000 })], 'medianMs');
    expect(times.map((level) => levelText('medianMs', level))[4]).toBe('more than 4.0 s, up to 5.0 s');
    const shares = levelsOf([element('a', { incidentRate: 0.5 })], 'incidentRate');
    expect(shares.map((level) => levelText('incidentRate', level))[0]).toBe('more than 0 %, up to 10 %');
  });

  it('has no levels or marks if nothing was counted', () => {
    expect(levelsOf(entered(0, 0), 'entered')).toEqual([]);
    expect(heatMarks(entered(0, 0), 'entered', [])).toEqual([]);
  });

  it('marks each element that has a value with its level and the value', () => {
    const elements = entered(0, 12, 3);
    const marks = heatMarks(elements, 'entered', levelsOf(elements, 'entered'));
    expect(marks.map(({ elementId, className, text }) => [elementId, className, text])).toEqual([
      ['e1', 'heat-5', '12'],
      ['e2', 'heat-2', '3'],
    ]);
  });

  it('always puts the largest value on the highest level', () => {
    const largest: Partial<ElementStatistics>[] = [
      ...[1, 2, 3, 7, 86_400_123].map((medianMs) => ({ medianMs })),
      ...[0.1, 0.3, 1 / 3, 1].map((incidentRate) => ({ incidentRate })),
    ];
    for (const figures of largest) {
      const measure = 'medianMs' in figures ? 'medianMs' : 'incidentRate';
      const elements = [element('a', figures)];
      const [mark] = heatMarks(elements, measure, levelsOf(elements, measure));
      expect(mark?.className).toBe('heat-5');
    }
  });

  it('sorts elements by value in descending order', () => {
    expect(byMeasure(entered(1, 3, 2), 'entered').map(({ bpmnElementId }) => bpmnElementId)).toEqual([
      'e1',
      'e2',
      'e0',
    ]);
  });
});
