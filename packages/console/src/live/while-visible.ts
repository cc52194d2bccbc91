/**
 * Does something now and again and again, while the tab is seen: `restMs` after it was done. In a tab that nobody sees it rests, and is
 * done at once when the tab is seen again.
 * @returns what ends it
 */
export function whileVisible(work: () => Promise<void>, restMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let isBusy = false;
  const go = async (): Promise<void> => {
    clearTimeout(timer);
    if (isOver || isBusy || document.hidden) {
      return;
    }
    isBusy = true;
    await work();
    isBusy = false;
    if (!isOver) {
      timer = setTimeout(() => void go(), restMs);
    }
  };
  const onVisible = (): void => void go();
  document.addEventListener('visibilitychange', onVisible);
  void go();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisible);
  };
}
