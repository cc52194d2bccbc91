import { expect, it } from 'vitest';
import { bpmn, compileXml, flows } from './compile.js';

it('yields the event loop while a file of many long expressions is compiled', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `a${index}`);
  const long = `${'a.b.c + '.repeat(150)}1 > 2`;
  const xml = bpmn(
    `<bpmn:startEvent id="s"/><bpmn:exclusiveGateway id="g" default="g_z"/><bpmn:endEvent id="z"/>${names
      .map((name) => `<bpmn:endEvent id="${name}"/>`)
      .join('')}${flows('s>g g>z')}${names.map((name) => flows(`g>${name}[X]`).replace('X', long)).join('')}`,
  );
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const { problems } = await compileXml(xml);
  clearInterval(timer);
  expect(problems).toEqual([]);
  expect(turns).toBeGreaterThan(10);
});
