import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { BpmnModdle } from 'bpmn-moddle';
import { describe, expect, it } from 'vitest';
import { readPackageFolder } from '../../../src/delivery/packages/reading/package-folder.js';
import type { LibraryBuild } from '../../../src/delivery/packages/model/package.types.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { publishedSchemas } from '../../../src/delivery/packages/schema/published-schemas.js';
import { ProcessCompiler, SVC_EXTENSION } from '#engine/definitions';
import { settings } from './package-fixture.js';

const BPMN_FILES = [
  'sample/application/processes/loan_onboarding.bpmn',
  'sample/library/processes/credit_check.bpmn',
];

function packagesService(): PackagesService {
  const env = settings();
  return new PackagesService(env);
}

async function document(folder: string): Promise<Record<string, unknown>> {
  const { document: read, problems } = await readPackageFolder(folder);
  expect(problems).toEqual([]);
  return read!;
}

async function checked(folder: string, appId: string, libraries: LibraryBuild[] = []) {
  const service = packagesService();
  const parsed = service.parse(await document(folder));
  expect(parsed.problems).toEqual([]);
  const result = await service.check(parsed.package!, { appId, libraries });
  expect(result.problems).toEqual([]);
  return result.checked!;
}

async function library(): Promise<LibraryBuild> {
  const { processes } = await checked('sample/library', 'sample-library');
  return {
    appId: 'sample-library',
    buildId: 'named-at-delivery',
    processes: processes.flatMap(({ graphs }) => graphs),
    workflows: [],
    systems: [],
  };
}

describe('the sample', () => {
  it('has a valid library', async () => {
    const { processes } = await checked('sample/library', 'sample-library');
    expect(processes[0]?.graphs.map(({ name }) => name)).toEqual(['credit_check']);
  });

  it('has a valid application', async () => {
    const { processes, systems, workflows } = await checked('sample/application', 'sample', [
      await library(),
    ]);
    const nodes = processes.flatMap(({ graphs }) => graphs.flatMap((graph) => graph.nodes));
    const kinds = nodes.map(({ kind }) => kind);
    expect(processes[0]?.graphs.map(({ name }) => name)).toEqual(['loan_onboarding']);
    expect(kinds.filter((kind) => kind === 'USER_TASK')).toHaveLength(2);
    expect(kinds).toEqual(expect.arrayContaining(['EXCLUSIVE_GATEWAY', 'PARALLEL_GATEWAY', 'CALL_ACTIVITY']));
    expect(nodes.some(({ event }) => event?.type === 'TIMER')).toBe(true);
    expect(nodes.flatMap(({ actions }) => actions).some(({ back }) => back !== null)).toBe(true);
    expect(systems.map(({ type }) => type).toSorted()).toEqual(['MCP', 'NOSQL_DB', 'REST']);
    expect(new Set(workflows.flatMap(({ nodes }) => nodes.map(({ type }) => type)))).toEqual(
      new Set(['START', 'DATA_MAPPING', 'CONDITION', 'CUSTOM_AGENT', 'END']),
    );
  });

  it('is rejected without its library', async () => {
    const service = packagesService();
    const { package: pkg } = service.parse(await document('sample/application'));
    const { checked: none, problems } = await service.check(pkg!, { appId: 'sample', libraries: [] });
    expect(none).toBeNull();
    expect(problems.map(({ file, element, code }) => `${file}: ${element}: ${code}`)).toEqual([
      'application.json: /libraries/0: LIBRARY_NOT_FOUND',
      'processes/loan_onboarding.bpmn: check_credit: PROCESS_NOT_FOUND',
    ]);
  });

  it.each(['sample/application', 'sample/library'])('%s matches the published schema', async (folder) => {
    const validate = new Ajv2020({ strict: false }).compile(
      publishedSchemas()['application-package.schema.json'] ?? {},
    );
    expect(validate(await document(folder)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each(BPMN_FILES)(
    '%s compiles to the same process after a round trip through a modeler',
    async (file) => {
      const moddle = new BpmnModdle({ svc: structuredClone(SVC_EXTENSION) });
      const { rootElement, warnings } = await moddle.fromXML(readFileSync(file, 'utf8'));
      expect(warnings).toEqual([]);
      const { xml } = await moddle.toXML(rootElement, { format: true });
      const again = await moddle.fromXML(xml);
      expect(again.warnings).toEqual([]);
      const compiler = new ProcessCompiler();
      const before = await compiler.compile(
        { name: file, xml: readFileSync(file, 'utf8') },
        { appId: 'sample' },
      );
      expect(before.problems).toEqual([]);
      expect(await compiler.compile({ name: file, xml }, { appId: 'sample' })).toEqual(before);
    },
  );

  it.each(BPMN_FILES)('%s keeps its extensions in a modeler that does not support them', async (file) => {
    const moddle = new BpmnModdle();
    const { rootElement } = await moddle.fromXML(readFileSync(file, 'utf8'));
    const { xml } = await moddle.toXML(rootElement, { format: true });
    const compiler = new ProcessCompiler();
    const before = await compiler.compile(
      { name: file, xml: readFileSync(file, 'utf8') },
      { appId: 'sample' },
    );
    expect(await compiler.compile({ name: file, xml }, { appId: 'sample' })).toEqual(before);
  });

  it.each(BPMN_FILES)('%s has a diagram with every node and every flow', (file) => {
    const xml = readFileSync(file, 'utf8');
    const drawn = new Set([...xml.matchAll(/bpmnElement="([^"]+)"/g)].map(([, id]) => id));
    const elements = [
      ...xml.matchAll(/<bpmn:(?:\w*Event|\w*[tT]ask|callActivity|\w*Gateway|sequenceFlow) id="([^"]+)"/g),
    ].map(([, id]) => id);
    expect(elements.length).toBeGreaterThan(10);
    expect(elements.filter((id) => !drawn.has(id))).toEqual([]);
  });
});
