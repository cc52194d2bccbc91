import { describe, expect, it } from 'vitest';
import { betsyExpectations, betsyXml, hasBetsy } from '../../../../packages/engine/test/support/betsy.js';
import {
  bpmn,
  compileXml,
  errorsOf,
  flows,
  nodes,
} from '../../../../packages/engine/test/definitions/compile.js';

const SIMPLE = nodes('startEvent:s task:a endEvent:z') + flows('s>a a>z');
const many = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join('');

describe('hostile files', () => {
  it.each([
    ['a document type', '<!DOCTYPE x>', 'DOCUMENT_TYPE -'],
    ['entities', '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>', 'DOCUMENT_TYPE -'],
    ['an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd">', 'DOCUMENT_TYPE -'],
    ['a document type after a comment', '<!-- x --><!DOCTYPE x>', 'DOCUMENT_TYPE -'],
  ])('rejects %s', async (_, prefix, expected) => {
    const xml = bpmn(SIMPLE);
    const end = xml.indexOf('?>') + 2;
    expect(await errorsOf(xml.slice(0, end) + prefix + xml.slice(end))).toEqual([expected]);
  });

  it('accepts any content in comments and texts', async () => {
    const xml = bpmn(
      `<bpmn:documentation><![CDATA[<!DOCTYPE x> isExecutable="1"]]></bpmn:documentation><!-- <!DOCTYPE x> isExecutable="1" -->${SIMPLE}`,
    );
    expect(await errorsOf(xml)).toEqual([]);
  });

  it('accepts text that looks like tags', async () => {
    const conditions = many(300, (index) => `<bpmn:textAnnotation id="t${index}" svg="a > b"/>`).replaceAll(
      ' svg=',
      ' textFormat=',
    );
    const errors = await errorsOf(bpmn(SIMPLE + conditions));
    expect(errors).toHaveLength(200);
    expect(errors.filter((error) => !error.startsWith('INVALID_VALUE'))).toEqual([]);
  });

  it('counts bytes, nodes and levels', async () => {
    expect(await errorsOf(bpmn(SIMPLE), { xmlBytes: 100 })).toEqual(['FILE_TOO_LARGE -']);
    expect(await errorsOf(bpmn(SIMPLE), { nodes: 3 })).toEqual([]);
    expect(await errorsOf(bpmn(SIMPLE), { nodes: 2 })).toEqual(['PROCESS_TOO_LARGE P']);
    const flood = many(11, (index) => `<bpmn:sequenceFlow id="f${index}" sourceRef="s" targetRef="a"/>`);
    expect(await errorsOf(bpmn(SIMPLE + flood), { nodes: 2 })).toEqual(['PROCESS_TOO_LARGE P']);
    const nested = (levels: number): string =>
      levels === 0
        ? ''
        : `${nodes(`startEvent:s${levels} endEvent:z${levels}`)}<bpmn:subProcess id="p${levels}">${nested(levels - 1) || nodes('startEvent:i endEvent:j') + flows('i>j')}</bpmn:subProcess>${flows(`s${levels}>p${levels} p${levels}>z${levels}`)}`;
    expect(await errorsOf(bpmn(nested(4)), { nesting: 5 })).toEqual([]);
    expect(await errorsOf(bpmn(nested(5)), { nesting: 5 })).toEqual(['PROCESS_TOO_DEEP P']);
  });

  it.each([
    ['with endless nesting', bpmn('<bpmn:subProcess id="x">'.repeat(5_000))],
    [
      'with endless namespace declarations',
      bpmn(many(5_000, (index) => `<bpmn:task id="t${index}" xmlns:n${index}="urn:${index}"/>`)),
    ],
  ])('rejects a file %s', async (_, xml) => {
    expect(await errorsOf(xml)).toEqual(['FILE_TOO_COMPLEX -']);
  });

  it.each([
    ['comments', '<!--'.repeat(200_000)],
    ['quotes', '<"'.repeat(300_000)],
    ['brackets', '<'.repeat(900_000)],
    ['spaces', bpmn(` isExecutable${' '.repeat(900_000)}`)],
    ['line breaks', bpmn(`x${' \n'.repeat(400_000)}`)],
    ['attributes', bpmn(`<bpmn:task id="t" ${many(60_000, (index) => `a${index}="1" `)}/>`)],
    ['nodes', bpmn(many(20_000, (index) => `<bpmn:task id="t${index}"/>`))],
    [
      'JSON',
      bpmn(
        `<bpmn:extensionElements><svc:inputSchema>${'['.repeat(400_000)}</svc:inputSchema></bpmn:extensionElements>${SIMPLE}`,
      ),
    ],
    [
      'unresolved flows',
      bpmn(
        SIMPLE +
          many(9_000, (index) => `<bpmn:sequenceFlow id="f${index}" sourceRef="q${index}" targetRef="z"/>`),
      ),
    ],
  ])(
    'rejects a megabyte of %s without stalling',
    async (_, xml) => {
      const { definitions, problems } = await compileXml(xml);
      expect(definitions).toEqual([]);
      expect(problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(problems).length).toBeLessThan(200_000);
    },
    15_000,
  );

  it.each([
    ['unknown elements', bpmn('<bpmn:x/>'.repeat(60_000))],
    ['unknown elements in our namespace', bpmn('<svc:x/>'.repeat(60_000))],
    ['elements with one id', bpmn('<bpmn:task id="a"/>'.repeat(40_000))],
    ['unknown elements after many lines', bpmn('\n'.repeat(500_000) + '<bpmn:x/>'.repeat(40_000))],
  ])('stops reading a file full of %s', async (_, xml) => {
    const { problems } = await compileXml(xml);
    expect(problems.at(-1)).toMatchObject({ code: 'MORE_PROBLEMS', severity: 'warning' });
    expect(problems.at(-1)?.message).toContain('not read to its end');
    expect(problems[0]).toMatchObject({ severity: 'error' });
  });

  it('counts elements before a file is read', async () => {
    const few = { xmlBytes: 250000 };
    expect(await errorsOf(bpmn('<x/>'.repeat(16_000)), few)).not.toContain('FILE_TOO_COMPLEX -');
    expect(await errorsOf(bpmn('<x/>'.repeat(17_000)), few)).toEqual(['FILE_TOO_COMPLEX -']);
    // Quoted text does not count as elements.
    const quoted = `<bpmn:task id="a>" name='>'/>`.repeat(8_000);
    expect(await errorsOf(bpmn(quoted), few)).not.toContain('FILE_TOO_COMPLEX -');
  });

  it('reports all problems of a file with few faults', async () => {
    const errors = await errorsOf(bpmn(`<bpmn:x/>\n<bpmn:task id="a"/>\n<bpmn:y/>${SIMPLE}`));
    expect(errors.filter((error) => error.startsWith('UNPARSABLE_CONTENT'))).toHaveLength(2);
    expect(errors.filter((error) => error.startsWith('DUPLICATE_ID'))).toHaveLength(1);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'treats the id %s like any other',
    async (id) => {
      const xml = bpmn(
        `${nodes('startEvent:s endEvent:z')}<bpmn:task id="${id}"/>${flows(`s>${id} ${id}>z`)}`,
      );
      const { definitions } = await compileXml(xml);
      expect(definitions[0]?.nodes.map(({ key }) => key).toSorted()).toEqual([id, 's', 'z'].toSorted());
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'valueOf'])(
    'is not affected by an attribute or element %s',
    async (name) => {
      const xml = bpmn(SIMPLE).replace(
        '<bpmn:task id="a"/>',
        `<bpmn:task id="a" ${name}="x" svc:${name}="x"><bpmn:${name}>x</bpmn:${name}><bpmn:extensionElements><svc:${name}/></bpmn:extensionElements></bpmn:task>`,
      );
      const { definitions } = await compileXml(xml);
      expect(definitions).toEqual([]);
      expect(({} as Record<string, unknown>).x).toBeUndefined();
      expect(Object.prototype.toString.call({})).toBe('[object Object]');
    },
  );

  it('truncates quotes from the file', async () => {
    const long = 'x'.repeat(10_000);
    const { problems } = await compileXml(
      bpmn(SIMPLE, { attributes: `name="${long}" svc:expiresAfter="${long}"` }),
    );
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.every(({ message }) => message.length <= 501)).toBe(true);
  });

  it('never fails on a damaged file, and never accepts one with errors', async () => {
    const sources = [
      bpmn(SIMPLE),
      ...(hasBetsy()
        ? betsyExpectations()
            .features.slice(0, 30)
            .map(({ file }) => betsyXml(file))
        : []),
    ];
    let seed = 20_260_131;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return seed % below;
    };
    for (let turn = 0; turn < 600; turn += 1) {
      const source = sources[turn % sources.length] ?? '';
      const from = random(source.length);
      const cut = source.slice(from, from + random(40));
      const damaged =
        turn % 3 === 0
          ? source.slice(0, from) + source.slice(from + random(30))
          : source.slice(0, from) + cut + '<>"\'&/x'.charAt(random(7)) + source.slice(from);
      const { definitions, problems } = await compileXml(damaged);
      const hasErrors = problems.some(({ severity }) => severity === 'error');
      expect(definitions.length > 0, damaged).toBe(!hasErrors);
    }
  }, 60_000);
});
