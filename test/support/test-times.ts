import type { TestModule } from 'vitest/node';

const SLOWEST = 10;

/**
 * Says where a test run spent its time: for each project the time that workers were busy with its files, then the slowest
 * files. Workers run beside each other, so the sum is longer than the run.
 */
export function whereTheTimeWent(modules: readonly TestModule[]): string {
  const byProject = [...new Set(modules.map(({ project }) => project.name))].map((name) => {
    const files = modules.filter(({ project }) => project.name === name);
    return `  ${seconds(sum(files, duration))} in ${files.length} files of ${name}, ${seconds(sum(files, loading))} of them to load`;
  });
  const slowest = modules.toSorted((a, b) => duration(b) - duration(a)).slice(0, SLOWEST);
  const byFile = slowest.map(
    (file) => `  ${seconds(duration(file))} ${file.project.name} ${file.relativeModuleId}`,
  );
  return ['Time of workers:', ...byProject, 'Slowest files:', ...byFile].join('\n');
}

/** Milliseconds as seconds to read: `12.3 s`. */
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
