import {Listr, ListrTaskEventType, ListrTaskState, type ListrRendererFactory, type ListrTask} from 'listr2';
import {isRuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';
import type {RunHost} from '../operations/host.js';
import {rendererOf} from './display.js';
import type {PipelineHost} from './host.js';
import {describeDuration, RunOutlet} from './report.js';

/** The last step of a pipeline, for when one before it has failed. */
export interface RecoveryStep {
  readonly name: string;
  readonly title: string;
  /** What it does about a failure; undefined if that is nothing. It resolves to the error that the run ends with. */
  readonly recovery: (error: unknown) => ((host: RunHost) => Promise<unknown>) | undefined;
}

/** A step as a task of listr2 has it. Without `isDue`, it is left out once a step before it has failed. */
interface PlannedStep {
  readonly name: string;
  readonly title: string;
  readonly task: () => Promise<void>;
  /** Whether it changes something on a service. */
  readonly changes: boolean;
  readonly isDue?: () => boolean;
}

/** Gets what the step before it has made, and makes what the next one gets. */
type Task<Input, Next> = (input: Input, host: RunHost) => Promise<Next>;

/** What the steps of a run have in common. */
interface Run {
  readonly host: PipelineHost & {readonly outlet: RunOutlet};
  /** Why a step failed. */
  failure?: {readonly error: unknown} | undefined;
}

/** A list of steps, and what the last one makes. */
export class Pipeline<Result> {
  readonly #run: Run;
  readonly #steps: readonly PlannedStep[];
  readonly #result: Promise<Result>;

  private constructor(run: Run, steps: readonly PlannedStep[], result: Promise<Result>) {
    this.#run = run;
    this.#steps = steps;
    this.#result = result;
  }

  static start(host: PipelineHost): Pipeline<undefined> {
    return new Pipeline({host: {...host, outlet: new RunOutlet(host)}}, [], Promise.resolve(undefined));
  }

  /** The warnings of all steps so far. */
  get warnings(): readonly string[] {
    return this.#run.host.outlet.warnings;
  }

  /**
   * Adds a step, which gets what the step before it has made, and makes what the next one gets.
   * @param name as events have it
   * @param title what the step does, for users: `Upload the bundle`
   */
  step<Next>(name: string, title: string, task: Task<Result, Next>): Pipeline<Next> {
    return this.#with({name, title, changes: false}, task);
  }

  /** Adds a step that changes something on a service: if the process ends during it, the outcome is unknown. */
  change<Next>(name: string, title: string, task: Task<Result, Next>): Pipeline<Next> {
    return this.#with({name, title, changes: true}, task);
  }

  #with<Next>(step: Omit<PlannedStep, 'task'>, task: Task<Result, Next>): Pipeline<Next> {
    const steps = [...this.#steps];
    const result = new Promise<Next>((resolve) => {
      steps.push({...step, task: async () => resolve(await task(await this.#result, this.#run.host))});
    });
    return new Pipeline(this.#run, steps, result);
  }

  /** Ends with a step that only runs after a failure, and changes something then. */
  recover({name, title, recovery}: RecoveryStep): Pipeline<Result> {
    const run = this.#run;
    let isOver = false;
    void this.#result.then(() => (isOver = true));
    // Until everything before it has succeeded, a terminal shows that it may come.
    const isDue = () => (run.failure === undefined ? !isOver : recovery(run.failure.error) !== undefined);
    const recover = async () => {
      const task = recovery(run.failure?.error);
      if (task !== undefined) run.failure = {error: await task(run.host)};
    };
    return new Pipeline(run, [...this.#steps, {name, title, changes: true, task: recover, isDue}], this.#result);
  }

  /** The steps after others that have run and made `value`. */
  after<Value>(value: Value): Pipeline<Value> {
    return new Pipeline(this.#run, [], Promise.resolve(value));
  }

  /** Runs the steps in their order as a list of listr2. Resolves to what the last one has made. */
  async run(): Promise<Result> {
    await runSteps(this.#run, this.#steps);
    return this.#result;
  }
}

async function runSteps(run: Run, steps: readonly PlannedStep[]): Promise<void> {
  const {terminal, onEvent} = run.host;
  const list = new Listr<unknown, ListrRendererFactory>(
    steps.map((step) => taskOf(step, run)),
    {
      ...rendererOf(terminal),
      // Signals are the process's concern, which waits for what is under way.
      registerSignalListeners: false,
      // The steps after a failure decide whether they run.
      exitOnError: false,
    },
  );
  for (const [index, step] of steps.entries()) {
    const task = list.tasks[index];
    if (task !== undefined) follow(task, step, run);
  }
  await list.run();
  const left = steps.filter((_, index) => list.tasks[index]?.state === ListrTaskState.WAITING);
  for (const {name, title} of left) onEvent?.({type: 'step', step: name, title, status: 'skipped'});
  if (run.failure === undefined) return;
  if (left.length > 0) terminal?.info(`Not run: ${left.map(({name}) => name).join(', ')}`);
  throw run.failure.error;
}

type PlannedTask = Listr<unknown, ListrRendererFactory>['tasks'][number];

function taskOf({name, title, isDue, task}: PlannedStep, run: Run): ListrTask<unknown, ListrRendererFactory> {
  return {
    title,
    enabled: isDue ?? (() => run.failure === undefined),
    task: async (_, shown) => {
      const {host} = run;
      const {outlet} = host;
      outlet.begin(shown, {name, title});
      try {
        await task();
        // A log has them below the outcome of the step.
        if (name === 'resolve' && host.terminal?.redraws === true) host.settings?.forEach((line) => outlet.note(line));
      } catch (error) {
        run.failure = {error};
        // listr2 reads the message of what it catches, and an abort can have any reason.
        throw error instanceof Error ? error : new Error(messageOf(error));
      } finally {
        outlet.end();
      }
    },
  };
}

/** Tells of the states of a task: in events, and in a log with a line for each output and for the outcome. */
function follow(task: PlannedTask, {name, title, changes}: PlannedStep, run: Run): void {
  const {terminal, onEvent, onChange} = run.host;
  const log = terminal?.redraws === false ? terminal : undefined;
  let startedAt = 0;
  let summary: string | undefined;
  const event = {type: 'step', step: name, title} as const;
  task.on(ListrTaskEventType.TITLE, (text) => (summary = text));
  task.on(ListrTaskEventType.OUTPUT, (line) => log?.info(line));
  task.on(ListrTaskEventType.STATE, (state) => {
    const durationMs = Math.round(performance.now() - startedAt);
    const took = `[${describeDuration(durationMs)}]`;
    if (changes) onChange?.(state === ListrTaskState.STARTED ? title : undefined);
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
