import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { ProcessCompilerService } from '../process-definitions/process-compiler.service.js';
import { checkPackage, checkParts } from './check/package-check.js';
import type { CompileProcess } from './check/processes-check.js';
import { withDefinitionIds, type ReferringNode } from './reading/definition-ids.js';
import { PackageShape } from './reading/package-shape.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedPackage,
  DefinitionIds,
  PackageProblem,
  ReadableParts,
} from './model/package.types.js';

/** Reads and checks application packages (docs/packages.md). It stores nothing and calls nobody. */
@Injectable()
export class PackagesService {
  constructor(
    private readonly env: Env,
    private readonly compiler: ProcessCompilerService,
  ) {}

  /**
   * Reads a package in the form of one document: its shape, and the bounds that keep a hostile one harmless.
   * @param document JSON of unknown origin
   * @returns the package, or null and all that is wrong with its shape; then `readable` is what `checkParts` can look at
   */
  parse(document: unknown): {
    package: ApplicationPackage | null;
    problems: PackageProblem[];
    readable: ReadableParts;
  } {
    const shape = new PackageShape(this.env, document);
    return { ...shape.read(), readable: shape.readable };
  }

  /** What is wrong with parts of a package whose shape is wrong elsewhere, as far as they tell it by themselves. */
  checkParts(parts: ReadableParts, appId: string): Promise<PackageProblem[]> {
    const compile: CompileProcess = (file) => this.compiler.compile(file, { appId });
    return checkParts(parts, compile, this.env.get('PACKAGE_MAX_PROBLEMS'));
  }

  /**
   * Checks whether a package makes sense as a whole: everything that could go wrong because of it later goes wrong here.
   * @param context what it is delivered to; `libraries` as far as the builds that it names exist
   * @returns the package as it can be stored, or null and all that is wrong; warnings come with either
   */
  check(
    pkg: ApplicationPackage,
    context: CheckContext,
  ): Promise<{ checked: CheckedPackage | null; problems: PackageProblem[] }> {
    const { appId } = context;
    return checkPackage(pkg, context, (file) => this.compiler.compile(file, { appId }), {
      libraries: this.env.get('PACKAGE_MAX_LIBRARIES'),
      libraryUsers: this.env.get('PACKAGE_MAX_LIBRARY_USERS'),
      schemaBytes: this.env.get('PACKAGE_MAX_SCHEMA_BYTES'),
      problems: this.env.get('PACKAGE_MAX_PROBLEMS'),
    });
  }

  /**
   * A checked workflow as the contract shows it: its references to systems and workflows of its own application carry the
   * definition ids that these were given when they were stored.
   */
  withDefinitionIds<Node extends ReferringNode, Workflow extends { nodes: Node[] }>(
    workflow: Workflow & { nodes: Node[] },
    appId: string,
    ids: DefinitionIds,
  ): Workflow {
    return withDefinitionIds(workflow, appId, ids);
  }
}
