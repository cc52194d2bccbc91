import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';
import { seconds } from './test-times.js';

/** What ran of an area so far. */
interface Area {
  waiting: number;
  readonly modules: TestModule[];
}

/**
 * Prints a line for each area, a folder of tests in one project, when its last file has ended; failures in full at the end.
 */
export class AreaReporter extends DefaultReporter {
  private readonly areas = new Map<string, Area>();

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    for (const { project, moduleId } of specifications) {
      const name = areaOf(project.name, moduleId.slice(this.ctx.config.root.length + 1));
      const area = this.areas.get(name) ?? { waiting: 0, modules: [] };
      area.waiting += 1;
      this.areas.set(name, area);
    }
  }

  protected override printTestModule(module: TestModule): void {
    const name = areaOf(module.project.name, module.relativeModuleId);
    const area = this.areas.get(name);
    if (area === undefined) {
      return;
    }
    area.modules.push(module);
    if (area.modules.length === area.waiting) {
      this.log(lineOf(name, area.modules));
    }
  }

  override reportTestSummary(): void {
    // The command prints the sum.
  }
}

function areaOf(project: string, path: string): string {
  const [, area = path] = /^(?:src\/modules|src|test\/\w+(?=\/[\w-]+\/)|test)\/([\w-]+)/.exec(path) ?? [];
  return `${project}  ${area}`;
}

function lineOf(name: string, modules: readonly TestModule[]): string {
  const states = modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => test.result().state),
  );
  const of = (state: string): number => states.filter((each) => each === state).length;
  const broken = modules.filter((module) => module.state() === 'failed').length;
  const counts = [
    `${of('passed')} passed`,
    ...(broken > 0 ? [`${Math.max(of('failed'), 1)} FAILED`] : []),
    ...(of('skipped') > 0 ? [`${of('skipped')} skipped`] : []),
  ];
  const time = seconds(modules.reduce((sum, module) => sum + module.diagnostic().duration, 0));
  return `${broken > 0 ? '✗' : '✓'} ${name.padEnd(44)} ${counts.join(', ')}, ${time}`;
}
