import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { BpmnModdle } from 'bpmn-moddle';
import { describe, expect, it } from 'vitest';
import { starterApplication } from '../../packages/client/src/command-line/starter-application.js';
import { SVC_EXTENSION, hostsOf, placeOf } from '#engine/definitions';

interface Descriptor {
  types: {
    name: string;
    extends?: string[];
    properties: { name: string; type: string; isAttr?: boolean; isBody?: boolean; isMany?: boolean }[];
  }[];
}

const TEXT = readFileSync('packages/modeler/svc.json', 'utf8');
const DESCRIPTOR = JSON.parse(TEXT) as Descriptor;
const DOCUMENT = readFileSync('docs/bpmn.md', 'utf8');

const lowered = (name: string): string => name[0]?.toLowerCase() + name.slice(1);
const ELEMENTS = DESCRIPTOR.types.flatMap(({ name, extends: extended, properties }) =>
  extended === undefined
    ? [
        lowered(name),
        ...properties
          .filter((one) => one.type === 'String' && !one.isAttr && !one.isBody)
          .map((one) => one.name),
      ]
    : [],
);
const ATTRIBUTES = DESCRIPTOR.types.flatMap(({ properties }) =>
  properties.filter(({ isAttr }) => isAttr).map(({ name }) => name),
);

/** BPMN files of the samples, of `svc init`, and in docs/bpmn.md. */
const FILES: [string, string][] = [
  ...['sample/application/processes', 'sample/library/processes'].flatMap((folder) =>
    readdirSync(folder).map((name): [string, string] => [name, readFileSync(join(folder, name), 'utf8')]),
  ),
  ['svc init', starterApplication('greeter')['processes/greeting.bpmn'] ?? ''],
  ...[...DOCUMENT.matchAll(/```xml\n(<\?xml.*?)```/gs)].map(([, xml = ''], index): [string, string] => [
    `docs/bpmn.md, example ${index + 1}`,
    xml,
  ]),
];

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', apos: "'" };
const TAG = /<([\w:]+)((?:\s+[\w:]+="[^"]*")*)\s*\/?>|<\/[\w:]+>/g;

/** Returns the sorted content of a file: names of elements, attributes and texts. */
function contentOf(xml: string): string[] {
  const plain = (text: string): string =>
    text
      .replaceAll(/&(?:#(\d+)|(\w+));/g, (_, code: string | undefined, name = '') =>
        code === undefined ? (ENTITIES[name] ?? name) : String.fromCodePoint(Number(code)),
      )
      .trim();
  const body = xml
    .replaceAll(/<\?.*?\?>|<!--.*?-->/gs, '')
    .replaceAll(/<!\[CDATA\[(.*?)\]\]>/gs, (_, text: string) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    );
  const tags = [...body.matchAll(TAG)].flatMap(([, name, attributes = '']) =>
    name === undefined ? [] : [`<${name}>`, ...attributesOf(name, attributes, plain)],
  );
  const texts = body.replaceAll(TAG, '\0').split('\0').map(plain);
  return [...tags, ...texts.filter((text) => text !== '')].toSorted();
}

function attributesOf(element: string, text: string, plain: (value: string) => string): string[] {
  return [...text.matchAll(/([\w:]+)="([^"]*)"/g)]
    .filter(([, name = '']) => !name.startsWith('xmlns'))
    .map(([, name, value = '']) => `${element} ${name}=${plain(value)}`);
}

describe('the descriptor for modelers', () => {
  it('is the same as in the service', () => {
    expect(DESCRIPTOR).toEqual(JSON.parse(JSON.stringify(SVC_EXTENSION)));
  });

  it('is the same as in the plugin for Camunda Modeler', () => {
    const window: { plugins?: { type: string; plugin: unknown }[] } = {};
    runInNewContext(readFileSync('packages/modeler/camunda-modeler-plugin/client.js', 'utf8'), { window });
    const [extension, ...others] = window.plugins ?? [];
    expect(extension?.type).toBe('bpmn.modeler.moddleExtension');
    expect(JSON.parse(JSON.stringify(extension?.plugin))).toEqual(DESCRIPTOR);
    expect(others.map(({ type }) => type)).toEqual(['bpmn.modeler.additionalModules']);
  });

  it('has only elements that the service supports', () => {
    expect(ELEMENTS.filter((name) => placeOf(name) === undefined)).toEqual([]);
    expect(hostsOf('actions')).toContain('userTask');
  });

  it('has exactly the names in docs/bpmn.md', () => {
    const known = new Set([...ELEMENTS, ...ATTRIBUTES]);
    const named = new Set([...DOCUMENT.matchAll(/svc:(\w+)/g)].map(([, name = '']) => name));
    named.delete('bpmn');
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !new RegExp(`[\`: <]${name}\\b`).test(DOCUMENT))).toEqual([]);
  });

  it('is tested with several files', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(4);
  });

  it.each(FILES)('reads and writes %s without warnings or lost content', async (_name, xml) => {
    const moddle = new BpmnModdle({ svc: JSON.parse(TEXT) as object });
    const { rootElement, warnings } = await moddle.fromXML(xml);
    expect(warnings).toEqual([]);
    const written = await moddle.toXML(rootElement, { format: true });
    expect(contentOf(written.xml)).toEqual(contentOf(xml));
  });

  it('is necessary: with a wrong descriptor, files produce warnings', async () => {
    const wrong = JSON.parse(TEXT.replace('"keys"', '"kays"')) as object;
    const moddle = new BpmnModdle({ svc: wrong });
    const { warnings } = await moddle.fromXML(FILES[0]?.[1] ?? '');
    expect(warnings).not.toEqual([]);
  });
});
