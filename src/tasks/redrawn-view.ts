import {styleText} from 'node:util';
import {describeDuration} from './describe.js';
import type {PipelineTerminal, StepView} from './pipeline.js';

/** The line of a step in a list that is redrawn, and what stands below it. */
export interface RedrawnTask {
  title: string | undefined;
  output: string | undefined;
}

/** A view that has to be ended with its step. */
export interface RedrawnView extends StepView {
  /** Stops counting down, and tells how long the step took. */
  end(): void;
}

/** Characters of the bar of a step. */
const barWidth = 20;

/** Shows a step in a list that is redrawn. */
export function createRedrawnView(
  task: RedrawnTask,
  {clean, color}: Pick<PipelineTerminal, 'color'> & {readonly clean: (text: string) => string},
): RedrawnView {
  const startedAt = performance.now();
  const details: string[] = [];
  let counting: NodeJS.Timeout | undefined;
  const draw = (text: string) => {
    task.output = [...details, clean(text)].filter(Boolean).join('\n');
  };
  const show = (text: string) => {
    clearInterval(counting);
    draw(text);
  };
  return {
    done: (title) => {
      task.title = clean(title);
      show('');
    },
    detail: (line) => {
      details.push(clean(line));
      show('');
    },
    countdown: (describe, delayMs) => {
      const endsAt = performance.now() + delayMs;
      show(describe(delayMs));
      counting = setInterval(() => {
        draw(describe(Math.max(0, endsAt - performance.now())));
      }, 1000).unref();
    },
    progress: (text, fraction) => {
      show(fraction === undefined ? text : `${bar(fraction)} ${text}`);
    },
    end: () => {
      clearInterval(counting);
      const took = `[${describeDuration(performance.now() - startedAt)}]`;
      task.title = `${task.title ?? ''} ${color ? styleText('dim', took, {validateStream: false}) : took}`;
    },
  };
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
}
