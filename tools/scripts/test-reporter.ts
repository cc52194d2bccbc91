import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';

/** Progress of an area. */
interface Area {
  waiting: number;
  readonly modules: TestModule[];
}

/**
 * Prints one line per area (a folder of tests in one project) when its last file has ended, and failures in full at the
 * end.
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
    // The command prints the total.
  }
}

function areaOf(project: string, path: string): string {
  const [, area = path] =
    /^(?:packages\/\w+\/(?:src|test)|src|test\/\w+(?=\/[\w-]+\/)|test)\/([\w-]+)/.exec(path) ?? [];
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

const SLOWEST = 10;

/**
 * Returns a report of where a test run spent its time: the busy time of workers per project, then the slowest files.
 * Workers run concurrently, so the sum exceeds the duration of the run.
 */
export function formatTimings(modules: readonly TestModule[]): string {
  const byProject = [...new Set(modules.map(({ project }) => project.name))].map((name) => {
    const files = modules.filter(({ project }) => project.name === name);
    return `  ${seconds(sum(files, duration))} in ${files.length} files of ${name}, ${seconds(sum(files, loading))} of that loading`;
  });
  const slowest = modules.toSorted((a, b) => duration(b) - duration(a)).slice(0, SLOWEST);
  const byFile = slowest.map(
    (file) => `  ${seconds(duration(file))} ${file.project.name} ${file.relativeModuleId}`,
  );
  return ['Time of workers:', ...byProject, 'Slowest files:', ...byFile].join('\n');
}

/** Formats milliseconds as seconds: `12.3 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function duration(module: TestModule): number {
  return module.diagnostic().duration + loading(module);
}

function loading(module: TestModule): number {
  const { collectDuration, setupDuration, prepareDuration } = module.diagnostic();
  return collectDuration + setupDuration + prepareDuration;
}

function sum(modules: readonly TestModule[], of: (module: TestModule) => number): number {
  return modules.reduce((total, module) => total + of(module), 0);
}
