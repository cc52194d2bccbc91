/**
 * Repeats work while the tab is visible, `restMs` after the previous run. Pauses in a hidden tab and resumes at once when the tab is
 * visible again.
 * @returns a function that stops it
 */
export function whileVisible(work: () => Promise<void>, restMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let isBusy = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isOver || isBusy || document.hidden) {
      return;
    }
    isBusy = true;
    await work();
    isBusy = false;
    if (!isOver) {
      timer = setTimeout(() => void run(), restMs);
    }
  };
  const onVisible = (): void => void run();
  document.addEventListener('visibilitychange', onVisible);
  void run();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisible);
  };
}
