import {describeDuration} from './describe.js';
import type {PipelineTerminal, StepView} from './pipeline.js';

/** Progress comes every 5 s, or every tenth of the way when that takes a second at least. */
const plainProgress = {afterMs: 5000, fraction: 0.1, fractionAfterMs: 1000};

/** Shows a step in lines that are never redrawn, for logs. */
export function createPlainView(terminal: Pick<PipelineTerminal, 'info'>): StepView {
  const startedAt = performance.now();
  let shownAt = startedAt;
  let shownFraction = 0;
  const line = (text: string) => {
    terminal.info(`  ${text}`);
  };
  return {
    done: (title) => {
      line(`${title} [${describeDuration(performance.now() - startedAt)}]`);
    },
    detail: line,
    countdown: () => undefined,
    progress: (text, fraction = 0) => {
      const now = performance.now();
      const elapsed = now - shownAt;
      const farther = fraction - shownFraction >= plainProgress.fraction && elapsed >= plainProgress.fractionAfterMs;
      if (!farther && elapsed < plainProgress.afterMs) return;
      shownAt = now;
      shownFraction = fraction;
      line(text);
    },
  };
}
