import { describe, expect, it } from 'vitest';
import type { ProcessGraph } from '../../src/definitions/model/process-graph.types.js';
import {
  betsyExpectations,
  betsyModel,
  hasBetsy,
  missingBetsy,
  type BetsyFeature,
} from '../support/betsy.js';
import { BetsyRun } from './betsy-runner.js';
import { compileXml } from '../definitions/compile.js';

/** A compiled feature file: its processes, or the elements for which it is refused. */
interface Compiled {
  feature: BetsyFeature;
  graphs: ProcessGraph[];
  scripts: ReadonlyMap<string, string>;
  unsupported: string[];
}

async function compiled(feature: BetsyFeature): Promise<Compiled> {
  const { xml, scripts } = betsyModel(feature.file);
  const { definitions, problems } = await compileXml(xml);
  const unsupported = problems
    .filter(({ code }) => code === 'UNSUPPORTED_ELEMENT')
    .map(({ message }) =>
      message
        .split(' ')
        .slice(0, message.includes(' of ') ? 3 : 1)
        .join(' '),
    );
  return { feature, graphs: definitions, scripts, unsupported: [...new Set(unsupported)] };
}

const features = hasBetsy() ? betsyExpectations().features : [];
const all = await Promise.all(features.map(compiled));
const supported = all.filter(({ graphs }) => graphs.length > 0);
const refused = all.filter(({ graphs }) => graphs.length === 0);

describe('third-party traces', () => {
  it.skipIf(!hasBetsy())(
    hasBetsy() ? 'are there' : missingBetsy('traces of 125 processes were not compared'),
    () => {
      // Executed kinds must not disappear from the comparison.
      expect(supported.length).toBeGreaterThanOrEqual(47);
      expect(supported.flatMap(({ feature }) => feature.cases).length).toBeGreaterThanOrEqual(95);
    },
  );

  for (const { feature, graphs, scripts } of supported) {
    const names = new Map(graphs.map(({ key, name }) => [key, name]));
    it.each(
      feature.cases.map(
        (betsyCase) => [JSON.stringify(betsyCase.input ?? betsyCase.integerVariable), betsyCase] as const,
      ),
    )(`of ${feature.file} with %s`, (_, betsyCase) => {
      const run = new BetsyRun(graphs, scripts);
      expect(run.traceOf(feature, betsyCase, names)).toEqual(betsyCase.trace.toSorted());
    });
  }

  for (const { feature, unsupported } of refused) {
    it(`of ${feature.file} are not compared: ${unsupported.join(', ')} unsupported`, () => {
      expect(unsupported).not.toEqual([]);
    });
  }
});
