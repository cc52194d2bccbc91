import { Injectable } from '@nestjs/common';
import { plainHttpOf } from '../../common/outbound/configured-outbound.js';
import { Env } from '../../config/env.js';
import { ProcessCompilerService } from '../process-definitions/process-compiler.service.js';
import { checkPackage, checkParts } from './check/package-check.js';
import type { CompileProcess } from './check/processes-check.js';
import { withDefinitionIds, type ReferringNode } from './reading/definition-ids.js';
import { PackageProblems } from './model/package-problems.js';
import { PackageReader } from './reading/package-reader.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedPackage,
  DefinitionIds,
  PackageProblem,
  ReadableParts,
} from './model/package.types.js';
import { packageLimits } from './package.limits.js';

/**
 * Reads and checks application packages (docs/packages.md). It stores nothing and calls nobody. Packages of others are read in
 * a thread of their own: see PackageThreadsService.
 */
@Injectable()
export class PackagesService {
  constructor(
    private readonly env: Env,
    private readonly compiler: ProcessCompilerService,
  ) {}

  /**
   * Reads a package in the form of one document: its shape, and the bounds that keep a hostile one harmless.
   * @param document JSON of unknown origin
   * @returns the package, or null and all problems of its shape; then `readable` holds the parts for `checkParts`
   */
  parse(document: unknown): {
    package: ApplicationPackage | null;
    problems: PackageProblem[];
    readable: ReadableParts;
  } {
    const reader = new PackageReader(document);
    return { ...reader.read(), readable: reader.readable };
  }

  /** The problems of what can be read, for a package with a wrong shape elsewhere. */
  checkParts(parts: ReadableParts, appId: string): Promise<PackageProblem[]> {
    return checkParts(parts, appId, this.compileWith(appId, parts.workflows), {
      schemaBytes: packageLimits.schemaBytes,
      problems: packageLimits.problems,
    });
  }

  /**
   * Checks whether a package makes sense as a whole: everything that could go wrong because of it later goes wrong here.
   * @param context the target of the delivery; `libraries` as far as the named builds exist
   * @returns the package as it can be stored, or null and all that is wrong; warnings come with either
   */
  check(
    pkg: ApplicationPackage,
    context: CheckContext,
  ): Promise<{ checked: CheckedPackage | null; problems: PackageProblem[] }> {
    const { appId } = context;
    return checkPackage(pkg, context, this.compileWith(appId, pkg.workflows), {
      libraries: packageLimits.libraries,
      libraryUsers: packageLimits.libraryUsers,
      schemaBytes: packageLimits.schemaBytes,
      plainHttp: plainHttpOf(this.env),
      problems: packageLimits.problems,
    });
  }

  private compileWith(appId: string, workflows: ApplicationPackage['workflows']): CompileProcess {
    const outputs = new Map(
      workflows.flatMap(({ name, outputSchema }) =>
        outputSchema === null ? [] : [[name, outputSchema] as const],
      ),
    );
    return (file) => this.compiler.compile(file, { appId, outputs });
  }

  /** As many of some problems as `problems` allows; the last entry says when some are left out. */
  told(problems: readonly PackageProblem[]): PackageProblem[] {
    const found = new PackageProblems(packageLimits.problems);
    problems.forEach((problem) => found.add(problem));
    return found.list();
  }

  /**
   * A checked workflow as the contract shows it. Its references to systems and workflows of its own application carry the
   * definition ids that storing gave them.
   */
  withDefinitionIds<Node extends ReferringNode, Workflow extends { nodes: Node[] }>(
    workflow: Workflow & { nodes: Node[] },
    appId: string,
    ids: DefinitionIds,
  ): Workflow {
    return withDefinitionIds(workflow, appId, ids);
  }
}
