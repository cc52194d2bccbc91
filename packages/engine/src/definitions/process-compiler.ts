import { yieldEventLoop } from '../support/yield-event-loop.js';
import { isProcessName } from './process-name.js';
import { checkActionKeys } from './checks/action-keys.checks.js';
import { checkCorrelations } from './checks/correlation.checks.js';
import { checkDataNames } from './checks/data-names.checks.js';
import { checkElements } from './checks/element.checks.js';
import { checkBoundaryUse, checkCalls } from './checks/graph.checks.js';
import { checkFlowLists } from './checks/flow-list.checks.js';
import { isDocumentation } from './checks/supported-elements.js';
import { DraftBuilder } from './compiler/draft.builder.js';
import { compileProcess } from './compiler/process.compiler.js';
import type { DefinitionProblem, ProcessGraph, WorkflowOutputs } from './model/process-graph.types.js';
import { DefinitionProblems } from './model/definition-problems.js';
import { childrenOf, idOf, textOf, type BpmnElement } from './model/bpmn-element.js';
import { readBpmn } from './reader/bpmn-reader.js';
import { refuseMisspeltNamespaces } from './reader/namespaces.js';
import { mayBeParsed } from './reader/xml-guard.js';

/** A BPMN file of a package. */
export interface ProcessFile {
  /** Name in problem messages. */
  name: string;
  xml: string;
}

/** The result for one file: all its processes, or its problems. */
export interface CompiledFile {
  /** Empty when a problem is an error. */
  definitions: ProcessGraph[];
  /** All readable parts, even of a file with errors. They show which names the file uses and are never executed. */
  readable: ProcessGraph[];
  problems: DefinitionProblem[];
  /** Warnings by process name that apply unless another process calls it with its own data. */
  unlessCalled: ReadonlyMap<string, readonly DefinitionProblem[]>;
}

/**
 * Compiles BPMN 2.0 files into executable graphs and rejects everything that cannot be executed (docs/bpmn.md), so a start
 * needs no further checks of the model. References to other files are not followed.
 */
export class ProcessCompiler {
  /** @param options.startPermission whether every start requires a permission of the whole service; otherwise correlation checks assume that anyone may start */
  constructor(private readonly options: { startPermission?: boolean } = {}) {}

  /**
   * Compiles a file. Reports all problems of the file and never throws because of its content.
   * @param context.appId the application, part of the stable uuids of nodes and actions
   * @param context.outputs output schemas of workflows, as far as the package declares them
   */
  async compile(
    file: ProcessFile,
    context: { appId: string; outputs?: WorkflowOutputs },
  ): Promise<CompiledFile> {
    const problems = new DefinitionProblems(file.name);
    const isXml = mayBeParsed(file.xml, problems);
    if (isXml) {
      refuseMisspeltNamespaces(file.xml, problems);
    }
    const root = isXml ? await readBpmn(file.xml, problems) : undefined;
    const readable = root === undefined ? [] : await this.compileRoot(root, problems, context.appId);
    const definitions = problems.hasErrors ? [] : readable;
    const unlessCalled = new Map<string, readonly DefinitionProblem[]>();
    for (const definition of definitions) {
      const found = new DefinitionProblems(file.name);
      await checkDataNames(definition, found, context.outputs);
      unlessCalled.set(definition.name, found.list());
    }
    return { definitions, readable, problems: problems.list(), unlessCalled };
  }

  private async compileRoot(
    root: BpmnElement,
    problems: DefinitionProblems,
    appId: string,
  ): Promise<ProcessGraph[]> {
    const complete = checkElements(root, problems) && !problems.isIncomplete;
    const processes = executableProcesses(root, problems);
    const context = {
      appId,
      problems,
      complete,
      names: new Map(processes.map((process) => [idOf(process) ?? '', nameOf(process, problems)])),
    };
    const drafts = processes.flatMap((process) => new DraftBuilder(process, problems).build() ?? []);
    if (!problems.isIncomplete) {
      checkFlowLists(drafts, problems);
    }
    const definitions: ProcessGraph[] = [];
    for (const draft of drafts) {
      definitions.push(await compileProcess(draft, context));
    }
    if (problems.isIncomplete) {
      return definitions;
    }
    checkCalls(definitions, problems);
    for (const definition of definitions) {
      checkBoundaryUse(definition, problems);
      await yieldEventLoop();
      await checkActionKeys(definition, problems);
      if (this.options.startPermission !== true) {
        checkCorrelations(definition, problems);
      }
    }
    return definitions;
  }
}

function executableProcesses(root: BpmnElement, problems: DefinitionProblems): BpmnElement[] {
  const processes = childrenOf(root, 'rootElements').filter(({ $type }) => $type === 'bpmn:Process');
  const executable = processes.filter((process) => !isDocumentation(process));
  for (const process of processes.filter(isDocumentation)) {
    const message = 'The process has isExecutable="false": it is only documentation and cannot be started.';
    problems.warning('NOT_EXECUTABLE', process, message);
  }
  if (executable.length === 0 && !problems.isIncomplete) {
    problems.error('NO_PROCESS', null, 'The file has no executable process.');
  }
  return executable;
}

function nameOf(process: BpmnElement, problems: DefinitionProblems): string {
  const own = textOf(process, 'processName')?.trim() || textOf(process, 'name')?.trim();
  const name = own || (idOf(process) ?? '');
  if (!isProcessName(name)) {
    const message = `The name of a process, which is part of the path that starts it, must be 1 to 64 letters, digits and . _ - [ ] ( ), but neither "." nor "..": not "${name.slice(0, 80)}". Add svc:processName to keep a display name.`;
    problems.error('INVALID_PROCESS_NAME', process, message);
  }
  return name;
}
