import type {
  ActionOperation,
  CallTarget,
  DefinitionProblem,
  GraphNode,
  ProcessGraph,
} from '#engine/definitions';
import { yieldEventLoop } from '#engine/support';
import { shortened, type Place, type PackageProblems } from '../model/package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedProcessFile,
  LibraryBuild,
  PackageProcessFile,
  UnreadParts,
} from '../model/package.types.js';
import { checkErrorCodes, NEVER_FIRES } from './error-codes.js';
import { checkMessageStarts } from './message-starts.js';
import { checkNamesOfProcess, requireUniqueNames } from './names.js';
import { namedLibraries, type References, type Referring } from './references.js';
import type { WorkflowInputs } from './workflow-input.js';

/** Compiles one BPMN file. */
export type CompileProcess = (file: { name: string; xml: string }) => Promise<{
  definitions: ProcessGraph[];
  readable: ProcessGraph[];
  problems: DefinitionProblem[];
  /** Warnings that apply unless another process calls the process of this name. */
  unlessCalled?: ReadonlyMap<string, readonly DefinitionProblem[]>;
}>;

type Callable = LibraryBuild['processes'][number];
type Call = Pick<CallTarget, 'process' | 'appId' | 'startCondition'>;

/** Compiles the processes of a package, and checks the processes and workflows that they start, including those of libraries. */
export class ProcessesCheck {
  /** Processes by application and name. */
  private readonly callable = new Map<string, Callable>();
  /** Keys of processes in files that do not compile: they exist, but cannot be checked. */
  private readonly faulty = new Set<string>();

  constructor(
    private readonly pkg: Referring & Pick<ApplicationPackage, 'processes'>,
    private readonly context: CheckContext,
    private readonly references: References,
    private readonly problems: PackageProblems,
    private readonly inputs: WorkflowInputs,
    /** The parts of a package that could not be read, or null. If set, libraries are unknown. */
    private readonly unread: UnreadParts | null,
  ) {}

  /** Returns the files with their graphs, without graphs for files that do not compile. */
  async check(compile: CompileProcess): Promise<CheckedProcessFile[]> {
    const { processes } = this.pkg;
    const files = processes.map(({ file }) => ({ name: file, file, element: null }));
    requireUniqueNames('files', 'FILE_NOT_UNIQUE', files, this.problems);
    const compiled: CheckedProcessFile[] = [];
    const nodes: { node: GraphNode; file: string }[] = [];
    const idle = new Set<string>();
    const unlessCalled: [string, readonly DefinitionProblem[]][] = [];
    for (const process of processes) {
      const { definitions, readable, ...result } = await compileFile(process, compile, this.problems);
      unlessCalled.push(...(result.unlessCalled ?? []));
      for (const { element } of result.problems.filter(({ code }) => code === NEVER_FIRES)) {
        idle.add(JSON.stringify([process.file, element]));
      }
      compiled.push({ ...process, graphs: definitions });
      readable.forEach((graph) => this.checkReadable(graph, process.file));
      nodes.push(...readable.flatMap((graph) => graph.nodes.map((node) => ({ node, file: process.file }))));
    }
    this.checkNames(compiled);
    checkMessageStarts(nodes, this.problems);
    this.collectCallable(compiled);
    // Include files that do not compile, so that authors see all problems at once.
    nodes.forEach(({ node, file }) => this.checkNode(node, file));
    // Errors that libraries throw are unknown here.
    if (this.unread === null && this.pkg.application.libraries.length === 0) {
      checkErrorCodes({ nodes, workflows: this.pkg.workflows, idle }, this.problems);
    }
    const called = new Set(nodes.flatMap(({ node }) => this.calledBy(node)));
    for (const [, warnings] of unlessCalled.filter(([process]) => !called.has(process))) {
      warnings.forEach((warning) => this.problems.add(warning));
    }
    return compiled;
  }

  /** Returns the names of processes of the package that a node starts. */
  private calledBy({ call, actions }: GraphNode): string[] {
    const calls: Call[] = actions.flatMap(({ operation }) =>
      operation.kind === 'START_SUBPROCESS' ? [operation] : [],
    );
    return [...(call === null ? [] : [call]), ...calls]
      .filter(({ appId }) => (appId ?? this.context.appId) === this.context.appId)
      .map(({ process }) => process);
  }

  private checkReadable(graph: ProcessGraph, file: string): void {
    this.faulty.add(keyOf(this.context.appId, graph.name));
    checkNamesOfProcess(graph, file, this.problems);
  }

  private checkNames(compiled: readonly CheckedProcessFile[]): void {
    const names = compiled.flatMap(({ file, graphs }) =>
      graphs.map(({ name, key }) => ({ name, file, element: key })),
    );
    requireUniqueNames('processes', 'PROCESS_NAME_NOT_UNIQUE', names, this.problems);
  }

  private collectCallable(compiled: readonly CheckedProcessFile[]): void {
    for (const { appId, processes } of namedLibraries(this.pkg, this.context)) {
      for (const process of processes) {
        this.callable.set(keyOf(appId, process.name), process);
      }
    }
    for (const graph of compiled.flatMap(({ graphs }) => graphs)) {
      this.callable.set(keyOf(this.context.appId, graph.name), graph);
    }
  }

  private checkNode({ key, call, actions }: GraphNode, file: string): void {
    const place = { file, element: key };
    if (call !== null) {
      this.checkCall(call, place);
    }
    for (const { operation } of actions) {
      if (operation.kind === 'START_SUBPROCESS') {
        this.checkCall(operation, place);
      } else if (operation.kind === 'START_WORKFLOW') {
        this.checkWorkflow(operation, place);
      }
    }
  }

  private checkWorkflow(
    { workflow, appId, input }: Extract<ActionOperation, { kind: 'START_WORKFLOW' }>,
    place: Place,
  ): void {
    const found =
      workflow === '' ? undefined : this.references.workflow({ resourceName: workflow, appId }, place);
    if (found === undefined) {
      return;
    }
    if (found.resourceName !== workflow) {
      const message = `The workflow is called "${found.resourceName}"; a process must use the exact name.`;
      this.problems.error('WORKFLOW_NOT_FOUND', place, message);
    } else if (found.appId === this.context.appId) {
      const called = this.pkg.workflows.find(({ name }) => name === workflow);
      if (called !== undefined) {
        this.inputs.check({ given: input, what: 'svc:input', place }, called);
      }
    }
  }

  /** Checks a call by the rules of a start through the API (docs/contract.md, section 4.1). */
  private checkCall(call: Call, place: Place): void {
    const { process } = call;
    const appId = call.appId ?? this.context.appId;
    const target = this.callable.get(keyOf(appId, process));
    if (target !== undefined) {
      this.checkStart(call, target, place);
    } else if (process !== '' && !this.faulty.has(keyOf(appId, process)) && !this.mayBeUnread(appId)) {
      // The check of the file has already reported a call without a name.
      const where =
        appId === this.context.appId
          ? 'this package'
          : `a library "${shortened(appId)}" that this package names`;
      const hint = this.problems.didYouMean(process, () => this.namesIn(appId));
      const message = `There is no process "${shortened(process)}" in ${where}.${hint}`;
      this.problems.error('PROCESS_NOT_FOUND', place, message);
    }
  }

  /** Returns whether the process may be in a part that could not be read. */
  private mayBeUnread(appId: string): boolean {
    const { unread } = this;
    return unread !== null && (appId !== this.context.appId || unread.processes?.length !== 0);
  }

  private namesIn(appId: string): string[] {
    return [...this.callable.keys()]
      .map((key) => JSON.parse(key) as [string, string])
      .filter(([owner]) => owner === appId)
      .map(([, name]) => name);
  }

  private checkStart({ process, startCondition }: Call, target: Callable, place: Place): void {
    const conditions = startConditionsOf(target);
    if (startCondition !== null && !conditions.includes(startCondition)) {
      const named = (): string[] => conditions.filter((condition) => condition !== null);
      const hint = this.problems.didYouMean(startCondition, named);
      const message = `Process "${shortened(process)}" has no start event with the start condition "${shortened(startCondition)}".${hint}`;
      this.problems.error('START_CONDITION_NOT_FOUND', place, message);
    } else if (conditions.length === 0) {
      const message = `Process "${shortened(process)}" has no start event that a call can use.`;
      this.problems.error('START_NOT_FOUND', place, message);
    } else if (startCondition === null && conditions.length > 1) {
      const message = `Process "${shortened(process)}" has several start events: name one by its start condition.`;
      this.problems.error('START_CONDITION_MISSING', place, message);
    }
  }
}

/** Compiles one file and adds its problems. Not for concurrent calls, because it yields the event loop at the end. */
async function compileFile(
  { file, bpmn }: PackageProcessFile,
  compile: CompileProcess,
  problems: PackageProblems,
): ReturnType<CompileProcess> {
  const result = await compile({ name: file, xml: bpmn });
  for (const problem of result.problems) {
    problems.add(problem);
  }
  // Yield the event loop, so that a large package does not block other work for long.
  await yieldEventLoop();
  return result;
}

/** Returns the start conditions of the start events that a call can use, which excludes message and timer events. */
function startConditionsOf({ nodes, starts }: Callable): (string | null)[] {
  return starts
    .map((index) => nodes[index])
    .filter((node) => node !== undefined && (node.event === null || node.event.type === 'NONE'))
    .map((node) => node?.startCondition ?? null);
}

function keyOf(appId: string, process: string): string {
  return JSON.stringify([appId, process]);
}
