import {Listr, ListrTaskEventType, ListrTaskState, type ListrRendererFactory, type ListrTask} from 'listr2';
import {isRuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';
import {rendererOf} from './display.js';
import type {PipelineHost} from './host.js';
import {describeDuration, StepReport} from './report.js';

/** A run of a pipeline, the context of its tasks: what they have found out and made so far. */
export interface PipelineRun {
  readonly host: PipelineHost;
  /** Why a step failed. */
  failure?: {readonly error: unknown} | undefined;
}

/** A task of a pipeline, with the name that events have. */
export interface Step<Run> {
  readonly name: string;
  /** What the step does, for users: `Upload the bundle`. */
  readonly title: string;
  /**
   * Whether the step is part of this run. A function decides when its turn comes; without one, it is left out once a
   * step before it has failed. @default true
   */
  readonly enabled?: boolean | ((run: Run) => boolean) | undefined;
  readonly task: (run: Run, report: StepReport) => Promise<void>;
}

/** Runs steps in their order as a list of listr2. */
export async function runPipeline<Run extends PipelineRun>(run: Run, steps: readonly Step<Run>[]): Promise<void> {
  const {terminal, onEvent} = run.host;
  const planned = steps.filter(({enabled}) => enabled !== false);
  const list = new Listr<Run, ListrRendererFactory>(
    planned.map((step) => taskOf(step, run)),
    {
      ctx: run,
      ...rendererOf(terminal),
      // Signals are the process's concern, which waits for what is under way.
      registerSignalListeners: false,
      // The steps after a failure decide whether they run.
      exitOnError: false,
    },
  );
  for (const [index, step] of planned.entries()) {
    const task = list.tasks[index];
    if (task !== undefined) follow(task, step, run);
  }
  await list.run();
  const left = planned.filter((_, index) => list.tasks[index]?.state === ListrTaskState.WAITING);
  for (const {name, title} of left) onEvent?.({type: 'step', step: name, title, status: 'skipped'});
  if (run.failure === undefined) return;
  if (left.length > 0) terminal?.info(`Not run: ${left.map(({name}) => name).join(', ')}`);
  throw run.failure.error;
}

/** The steps of an operation that changes a target, which may have guards. */
interface GuardedSteps<Run> {
  /** What the guards need to know. */
  readonly finding: readonly Step<Run>[];
  /** Checks the guards. Undefined if there are none. */
  readonly guard: Step<Run> | undefined;
  /** Asks a person, once the guards allow it. */
  readonly ask: () => Promise<void>;
  readonly changing: () => readonly Step<Run>[];
}

/** Runs steps as one list, or with guards as two: nobody can answer a question while a list is redrawn. */
export async function runGuarded<Run extends PipelineRun>(
  run: Run,
  {finding, guard, ask, changing}: GuardedSteps<Run>,
): Promise<void> {
  if (guard === undefined) {
    await runPipeline(run, [...finding, ...changing()]);
    return;
  }
  await runPipeline(run, [...finding, guard]);
  await ask();
  await runPipeline(run, changing());
}

type PlannedTask<Run> = Listr<Run, ListrRendererFactory>['tasks'][number];

function taskOf<Run extends PipelineRun>(step: Step<Run>, run: Run): ListrTask<Run, ListrRendererFactory> {
  const {name, title, enabled, task} = step;
  return {
    title,
    enabled: () => (typeof enabled === 'function' ? enabled(run) : run.failure === undefined),
    rendererOptions: {persistentOutput: true},
    task: async (_, shown) => {
      const report = new StepReport(shown, {name, title}, run.host);
      try {
        await task(run, report);
        if (name === 'resolve') report.noteSettings();
      } catch (error) {
        run.failure = {error};
        // listr2 reads the message of what it catches, and an abort can have any reason.
        throw error instanceof Error ? error : new Error(messageOf(error));
      } finally {
        report.end();
      }
    },
  };
}

/** Tells of the states of a task: in events, and in a log with a line for each output and for the outcome. */
function follow<Run extends PipelineRun>(task: PlannedTask<Run>, {name, title}: Step<Run>, run: Run): void {
  const {terminal, onEvent} = run.host;
  const log = terminal?.redraws === false ? terminal : undefined;
  let startedAt = 0;
  let summary: string | undefined;
  const event = {type: 'step', step: name, title} as const;
  task.on(ListrTaskEventType.TITLE, (text) => (summary = text));
  task.on(ListrTaskEventType.OUTPUT, (line) => log?.info(line));
  task.on(ListrTaskEventType.STATE, (state) => {
    const durationMs = Math.round(performance.now() - startedAt);
    const took = `[${describeDuration(durationMs)}]`;
    if (state === ListrTaskState.STARTED) {
      startedAt = performance.now();
      onEvent?.({...event, status: 'started'});
    } else if (state === ListrTaskState.COMPLETED) {
      onEvent?.({...event, status: 'done', summary, durationMs});
      log?.info(`${task.title ?? title} ${took}`);
      if (name === 'resolve') for (const line of run.host.settings ?? []) log?.info(`  ${line}`);
    } else if (state === ListrTaskState.FAILED) {
      const error = run.failure?.error;
      const code = isRuntimeCliError(error) ? error.code : undefined;
      onEvent?.({...event, status: 'failed', durationMs, code});
      log?.info(`${title}: failed ${took}`);
    }
  });
}

/** What an earlier step of a run has made. */
export function made<Run, Key extends keyof Run & string>(run: Run, key: Key): NonNullable<Run[Key]> {
  const value = run[key];
  if (value === undefined || value === null) throw new Error(`Bug: no step has made the ${key} of the run yet.`);
  return value;
}
