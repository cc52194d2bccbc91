import type { z } from 'zod';
import { isJsonObject } from '#engine/json';
import { parsePath } from '#engine/paths';
import { compileJsonTemplate, compileTemplate } from '#engine/expressions';
import { SystemType } from '../../../systems/model/system.types.js';
import { EXECUTED_NODE_TYPES, NODE_TYPES, type NodeType } from '../schema/node-types.types.js';
import { pointerTo, type Place, type PackageProblems } from '../model/package-problems.js';
import type { ResourceReference, WorkflowNode } from '../model/package.types.js';
import { faultText, parseShape, unknownText } from '../reading/read-by-schema.js';
import {
  dataSourcePayloadSchema,
  endPayloadSchema,
  restPayloadSchema,
  subworkflowPayloadSchema,
} from '../schema/node-payload.schema.js';
import { checkConditions, requireCompiles } from './conditions-check.js';
import { checkDataOperation } from './data-operation-check.js';
import type { References } from './references.js';
import { checkSchema } from './schema-check.js';

/** Types whose result must be stored. */
const NEEDS_RESPONSE_KEY: ReadonlySet<string> = new Set<NodeType>([
  'REST_ENDPOINT',
  'DATA_SOURCE',
  'SUBWORKFLOW',
  'CUSTOM_AGENT',
]);
/** Types that store nothing. */
const WITHOUT_RESPONSE_KEY: ReadonlySet<string> = new Set<NodeType>(['START', 'END', 'CONDITION']);
/** Headers that the service sets or that would contain a credential. */
const FORBIDDEN_HEADER =
  /^(authorization|proxy-.*|cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|expect)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Checks a node and its references, and returns it with resolved references. */
export class WorkflowNodeCheck {
  constructor(
    private readonly file: string,
    private readonly references: References,
    private readonly problems: PackageProblems,
  ) {}

  check(node: WorkflowNode): WorkflowNode {
    const place = { file: this.file, element: node.id };
    if (!isNodeType(node.type)) {
      const hint = this.problems.didYouMean(node.type, () => NODE_TYPES);
      const message = `Nodes of type "${node.type}" cannot be executed. Supported: ${NODE_TYPES.join(', ')}.${hint}`;
      this.problems.error('NODE_TYPE_UNSUPPORTED', place, message);
      return node;
    }
    if (!(EXECUTED_NODE_TYPES as readonly string[]).includes(node.type)) {
      const message = `This release does not run nodes of type ${node.type}: a run of the workflow fails here.`;
      this.problems.warning('NODE_TYPE_NOT_RUN', place, message);
    }
    this.checkMembers(node, place);
    this.checkResponseKey(node, place);
    this.checkBody(node.inputBody, '"inputBody"', place);
    this.checkBody(node.outputBody, '"outputBody"', place);
    return this.checkType(node, node.type, place);
  }

  private checkType(node: WorkflowNode, type: NodeType, place: Place): WorkflowNode {
    switch (type) {
      case 'START':
        return node;
      case 'END':
        return this.end(node, place);
      case 'DATA_MAPPING':
        this.requireBody(node, place);
        return node;
      case 'CONDITION':
        checkConditions(node, place, this.problems);
        return node;
      case 'REST_ENDPOINT':
        return this.rest(node, place);
      case 'DATA_SOURCE':
        return this.dataSource(node, place);
      case 'SUBWORKFLOW':
        return this.subworkflow(node, place);
      case 'CUSTOM_AGENT':
        return this.agent(node, place);
    }
  }

  /** Rejects members of other types of nodes, which would be silently ignored. */
  private checkMembers({ type, ...node }: WorkflowNode, place: Place): void {
    const misplaced = [
      type !== 'CONDITION' && node.conditions.length > 0 ? 'conditions' : '',
      type !== 'CUSTOM_AGENT' && node.aiOptions !== null ? 'aiOptions' : '',
      type !== 'SUBWORKFLOW' && node.subWorkflowResourceDefinitionId !== null
        ? 'subWorkflowResourceDefinitionId'
        : '',
      !['END', 'REST_ENDPOINT', 'DATA_SOURCE', 'SUBWORKFLOW'].includes(type) && isFilled(node.payload)
        ? 'payload'
        : '',
    ].filter((name) => name !== '');
    for (const name of misplaced) {
      this.problems.error('MEMBER_MISPLACED', place, `A node of type ${type} cannot have "${name}".`);
    }
  }

  private checkResponseKey({ type, responseKey }: WorkflowNode, place: Place): void {
    if (responseKey === null || responseKey === '') {
      if (NEEDS_RESPONSE_KEY.has(type)) {
        const message = `A node of type ${type} needs a "responseKey" to store its result under.`;
        this.problems.error('RESPONSE_KEY_MISSING', place, message);
      }
      return;
    }
    if (WITHOUT_RESPONSE_KEY.has(type)) {
      this.problems.error('MEMBER_MISPLACED', place, `A node of type ${type} cannot have "responseKey".`);
      return;
    }
    const isPath = requireCompiles(() => parsePath(responseKey), '"responseKey"', place, this.problems);
    if (isPath && typeof parsePath(responseKey)[0] === 'number') {
      this.problems.error('EXPRESSION_INVALID', place, '"responseKey" must start with a name.');
    }
  }

  private requireBody({ inputBody, type }: WorkflowNode, place: Place): void {
    if (inputBody === null || inputBody.trim() === '') {
      const message = `A node of type ${type} needs an "inputBody": JSON text that may contain references to data.`;
      this.problems.error('INPUT_BODY_MISSING', place, message);
    }
  }

  private checkBody(body: string | null, what: string, place: Place): void {
    if (body !== null && body.trim() !== '') {
      requireCompiles(() => compileJsonTemplate(body), what, place, this.problems);
    }
  }

  private end(node: WorkflowNode, place: Place): WorkflowNode {
    if (isFilled(node.payload)) {
      this.payload(endPayloadSchema, node, place);
    }
    return node;
  }

  private rest(node: WorkflowNode, place: Place): WorkflowNode {
    const payload = this.payload(restPayloadSchema, node, place);
    if (payload === undefined) {
      return node;
    }
    const texts = {
      path: payload.path,
      ...prefixed('queryParameters', payload.queryParameters),
      ...prefixed('headers', payload.headers),
    };
    for (const [name, text] of Object.entries(texts)) {
      requireCompiles(() => compileTemplate(text), `"${name}"`, place, this.problems);
    }
    for (const name of Object.keys(payload.headers)) {
      if (FORBIDDEN_HEADER.test(name) || !HEADER_NAME.test(name)) {
        const message = `A package cannot set the header "${name}": the service sets it, or it would contain a credential.`;
        this.problems.error('HEADER_FORBIDDEN', place, message);
      }
    }
    const system = this.references.system(payload.system, SystemType.Rest, place);
    return { ...node, payload: { ...payload, system: system ?? payload.system } };
  }

  private dataSource(node: WorkflowNode, place: Place): WorkflowNode {
    const payload = this.payload(dataSourcePayloadSchema, node, place);
    if (payload === undefined) {
      return node;
    }
    checkDataOperation(payload, place, this.problems);
    const system = this.references.system(payload.system, SystemType.NoSqlDb, place);
    return { ...node, payload: { ...payload, system: system ?? payload.system } };
  }

  private subworkflow(node: WorkflowNode, place: Place): WorkflowNode {
    const { subWorkflowResourceDefinitionId: resourceDefinitionId } = node;
    const reference: ResourceReference | undefined = isFilled(node.payload)
      ? this.payload(subworkflowPayloadSchema, node, place)?.workflow
      : { resourceDefinitionId };
    if (reference === undefined) {
      return node;
    }
    const workflow = this.references.workflow(
      resourceDefinitionId === null ? reference : { ...reference, resourceDefinitionId },
      place,
    );
    return workflow === undefined
      ? node
      : { ...node, payload: { workflow }, subWorkflowResourceDefinitionId: workflow.resourceDefinitionId };
  }

  private agent(node: WorkflowNode, place: Place): WorkflowNode {
    const options = node.aiOptions;
    if (options === null) {
      this.problems.error('AI_OPTIONS_MISSING', place, 'A node of type CUSTOM_AGENT needs "aiOptions".');
      return node;
    }
    requireCompiles(
      () => compileTemplate(options.operationPrompt),
      '"operationPrompt"',
      place,
      this.problems,
    );
    checkSchema(options.exampleOutputJsonSchema, '"exampleOutputJsonSchema"', place, this.problems);
    const mcpServers = options.mcpServers.map(
      (reference) => this.references.system(reference, SystemType.Mcp, place) ?? reference,
    );
    return { ...node, aiOptions: { ...options, mcpServers } };
  }

  private payload<Schema extends z.ZodType>(
    schema: Schema,
    { payload, type }: WorkflowNode,
    place: Place,
  ): z.output<Schema> | undefined {
    if (payload === null) {
      this.problems.error('PAYLOAD_MISSING', place, `A node of type ${type} needs a "payload".`);
      return undefined;
    }
    const read = parseShape(schema, payload);
    if ('data' in read) {
      return read.data;
    }
    const { issues, unknown } = read.faults;
    const faults = [
      ...issues.map((issue) => ({ path: issue.path, message: faultText(issue, ['payload', ...issue.path]) })),
      ...unknown.map((member) => ({ path: [...member.path, member.name], message: unknownText(member) })),
    ];
    for (const { path, message } of faults) {
      this.problems.error('PAYLOAD_INVALID', place, `${pointerTo(['payload', ...path])}: ${message}`);
    }
    return undefined;
  }
}

function isNodeType(type: string): type is NodeType {
  return (NODE_TYPES as readonly string[]).includes(type);
}

function isFilled(payload: unknown): boolean {
  return isJsonObject(payload) && Object.keys(payload).length > 0;
}

function prefixed(name: string, texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [`${name}.${key}`, text]));
}
