import { definitionLimits } from '../../src/definitions/definition.limits.js';
import { ProcessCompiler, type CompiledFile } from '../../src/definitions/process-compiler.js';
import type { GraphNode, ProcessGraph } from '../../src/definitions/model/process-graph.types.js';

/** Compiles BPMN text. @param limits override the defaults */
export async function compileXml(
  xml: string,
  limits: Partial<typeof definitionLimits> = {},
): Promise<CompiledFile> {
  const usual = { ...definitionLimits };
  Object.assign(definitionLimits, limits);
  try {
    return await new ProcessCompiler().compile({ name: 'test.bpmn', xml }, { appId: 'app-1' });
  } finally {
    Object.assign(definitionLimits, usual);
  }
}

/** Wraps elements of one process into a file. */
export function bpmn(content: string, options: { attributes?: string; outside?: string } = {}): string {
  return definitions(
    `<bpmn:process id="P" isExecutable="true" ${options.attributes ?? ''}>${content}</bpmn:process>${options.outside ?? ''}`,
  );
}

/** Wraps root elements into a file. */
export function definitions(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:svc="urn:svc:bpmn:1" id="D" targetNamespace="urn:test">${content}</bpmn:definitions>`;
}

/** Returns sequence flows written as `a>b` or `a>b[condition]`; the id of `a>b` is `a_b`. */
export function flows(text: string): string {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, source = '', target = '', condition] = /^(\w+)>(\w+)(?:\[(.*)\])?$/.exec(part) ?? [];
      const inner =
        condition === undefined
          ? ''
          : `<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression"><![CDATA[${condition}]]></bpmn:conditionExpression>`;
      return `<bpmn:sequenceFlow id="${source}_${target}" sourceRef="${source}" targetRef="${target}">${inner}</bpmn:sequenceFlow>`;
    })
    .join('');
}

/** Returns elements written as `kind:id`, separated by spaces. */
export function nodes(text: string): string {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [kind = '', id = ''] = part.split(':');
      return `<bpmn:${kind} id="${id}"/>`;
    })
    .join('');
}

/** Returns the only process of a file, which must have no errors. */
export async function graphOf(xml: string): Promise<ProcessGraph> {
  const { definitions: found, problems } = await compileXml(xml);
  const [graph] = found;
  if (graph === undefined) {
    throw new Error(`refused: ${JSON.stringify(problems, null, 1)}`);
  }
  return graph;
}

/** Returns the node with a key. */
export function nodeOf(graph: ProcessGraph, key: string): GraphNode {
  const node = graph.nodes.find((one) => one.key === key);
  if (node === undefined) {
    throw new Error(`no node ${key}`);
  }
  return node;
}

/** Returns `CODE element` for each error of a file. */
export async function errorsOf(xml: string, limits?: Partial<typeof definitionLimits>): Promise<string[]> {
  const { definitions: found, problems } = await compileXml(xml, limits);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 !== (found.length === 0)) {
    throw new Error('a file has definitions or errors, never both');
  }
  return errors.map(({ code, element }) => `${code} ${element ?? '-'}`);
}
