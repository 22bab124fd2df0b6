import {Listr, ListrTaskEventType, ListrTaskState, type ListrRendererFactory, type ListrTask} from 'listr2';
import type {PlannedWrite} from '../backends/contract.js';
import {isRuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';
import {asRecord} from '../text/json.js';
import type {Release} from '../operations/deploy/release.js';
import type {RunHost} from '../operations/host.js';
import {rendererOf} from './display.js';
import type {PipelineHost} from './host.js';
import type {Facts, Ledger} from './ledger.js';
import {explainMissingProject} from '../operations/targets/find-targets.js';
import {explain} from './outcome.js';
import {describeDuration, RunOutlet} from './report.js';

/** A step of a run: a task of listr2. */
export interface Step<Request = unknown> {
  /** As events have it. */
  readonly name: string;
  /** What it does, for users: `Upload the bundle`. */
  readonly title: string | ((ledger: Ledger<Request>) => string);
  readonly due?: (ledger: Ledger<Request>) => boolean;
  /** Whether it runs if a step has failed, and only then. @default false */
  readonly recovers?: boolean;
  /** Does it, and resolves to what is known then. What is known of a failure as well, it writes at once. */
  readonly run: (ledger: Ledger<Request>, host: RunHost) => Promise<Facts>;
}

/** What a person is asked between two lists of steps, because nobody can answer while a list is redrawn. */
export interface Question<Request = unknown> {
  /** Whether there may be something to ask, which is known before the first step. @default always */
  readonly due?: (ledger: Ledger<Request>) => boolean;
  /** @throws if the answer is no: then nothing more is done */
  readonly ask: (ledger: Ledger<Request>, host: RunHost) => Promise<void>;
}

export type Rows<Request> = readonly (Step<Request> | Question<Request>)[];

/** @param facts what runs before this one have made known */
export async function runPipeline<Request>(
  rows: Rows<Request>,
  request: Request & {readonly release?: Release | undefined},
  host: PipelineHost,
  facts: Facts = {},
): Promise<Ledger<Request>> {
  const ledger: Ledger<Request> = {...facts, request, release: request.release, warnings: [], changes: []};
  host.onLedger?.(ledger, (error) => explain(error, ledger));
  const beforeWrite = recordWrites(ledger, host);
  const running = {...host, outlet: new RunOutlet(host, ledger), beforeWrite};
  try {
    let steps: Step<Request>[] = [];
    for (const row of rows) {
      if ('run' in row && row.name === 'resolve' && host.continues === true)
        await runSteps([row], ledger, {...running, terminal: undefined});
      else if ('run' in row) steps.push(row);
      else if (row.due?.(ledger) !== false) {
        await runSteps(steps, ledger, running);
        steps = [];
        await row.ask(ledger, running).catch((error: unknown) => fail(error, undefined, ledger));
        if (ledger.failure !== undefined) throw explain(ledger.failure.error, ledger);
      }
    }
    await runSteps(steps, ledger, running);
    return ledger;
  } finally {
    await ledger.workspace?.remove();
  }
}

/** Keeps the changes that the caller allows. The next one ends the one before, unless that falls back. */
function recordWrites(ledger: Ledger, {beforeWrite}: PipelineHost): NonNullable<RunHost['beforeWrite']> {
  return async (planned, options) => {
    await beforeWrite?.(planned, options);
    if (options.dryRun) return;
    const {changes, failure, step: {name: step = ''} = {}} = ledger;
    const last = changes.at(-1);
    if (last?.step === step && isSame(last.planned, planned)) changes.pop();
    else if (last !== undefined)
      last.ended ??= failure === undefined ? {} : {error: explain(failure.error, {...ledger, rollback: undefined})};
    changes.push({planned, step});
  };
}

function isSame(one: PlannedWrite, other: PlannedWrite): boolean {
  return one.operation === other.operation && one.targetSlug === other.targetSlug && one.backend !== other.backend;
}

type TaskList<Request> = Listr<Ledger<Request>, ListrRendererFactory>;
type RunningHost = PipelineHost & RunHost & {readonly outlet: RunOutlet};
type Task = Listr<Ledger, ListrRendererFactory>['tasks'][number];

async function runSteps<Request>(
  steps: readonly Step<Request>[],
  ledger: Ledger<Request>,
  host: RunningHost,
): Promise<void> {
  const due = steps.filter((step) => step.due?.(ledger) !== false);
  const titled = due.map((step) => ({
    ...step,
    title: typeof step.title === 'string' ? step.title : step.title(ledger),
  }));
  if (titled.length === 0) return;
  const hasBegun = (): boolean => list.tasks.some((task) => task.hasFinalized());
  const list: TaskList<Request> = new Listr<Ledger<Request>, ListrRendererFactory>(
    titled.map((step) => taskOf(step, host, hasBegun)),
    {
      ...rendererOf(host.terminal),
      ctx: ledger,
      // Signals are the process's concern, which waits for what is under way.
      registerSignalListeners: false,
      // The steps after a failure decide whether they run.
      exitOnError: false,
    },
  );
  for (const [index, task] of list.tasks.entries()) {
    const step = titled[index];
    if (step !== undefined) follow(task, step, ledger, host);
  }
  await list.run();
  const left = titled.filter((_, index) => list.tasks[index]?.state === ListrTaskState.WAITING);
  for (const {name, title} of left) host.onEvent?.({type: 'step', step: name, title, status: 'skipped'});
  if (ledger.failure === undefined) return;
  if (left.length > 0) host.terminal?.info(`Not run: ${left.map(({title}) => title).join(', ')}`);
  throw explain(ledger.failure.error, ledger);
}

type TitledStep<Request> = Step<Request> & {readonly title: string};

function taskOf<Request>(
  {name, title, due, recovers = false, run: runStep}: TitledStep<Request>,
  host: RunningHost,
  hasBegun: () => boolean,
): ListrTask<Ledger<Request>, ListrRendererFactory> {
  return {
    title,
    // Until its turn comes, a terminal shows that a step may recover what fails.
    enabled: (ledger) =>
      due?.(ledger) !== false &&
      (recovers ? ledger.failure !== undefined || !hasBegun() : ledger.failure === undefined),
    task: async (ledger, shown) => {
      const {outlet, terminal, settings} = host;
      ledger.step = {name, title};
      outlet.begin(shown, {name, title}, host);
      try {
        Object.assign(ledger, await runStep(ledger, host));
        // A log has them below the outcome of the step.
        if (name === 'resolve' && terminal?.redraws === true) settings?.forEach((line) => outlet.note(line));
      } catch (thrown) {
        const error = await fail(thrown, name, ledger);
        outlet.title(`${title}: ${howFailed(error)}`);
        // listr2 reads the message of what it catches, and an abort can have any reason.
        throw error instanceof Error ? error : new Error(messageOf(error));
      } finally {
        outlet.end();
      }
    },
  };
}

async function fail(thrown: unknown, step: string | undefined, ledger: Ledger): Promise<unknown> {
  const error = ledger.open === undefined ? thrown : await explainMissingProject(thrown, ledger.open);
  ledger.failure ??= {step, error};
  return error;
}

/** What a step that failed says of itself. One that a plugin has not allowed has not sent anything. */
function howFailed(error: unknown): string {
  if (!isRuntimeCliError(error)) return 'failed';
  const {plugin, vetoes} = error.details ?? {};
  if (error.code === 'ERR_HOOK_FAILED') return `not allowed, because ${String(plugin)} failed`;
  if (error.code !== 'ERR_VETOED' || !Array.isArray(vetoes)) return 'failed';
  return `vetoed by ${vetoes.map((veto) => String(asRecord(veto)['plugin'])).join(', ')}`;
}

/** Tells of the states of a task: in events, and in a log with a line for each output and for the outcome. */
function follow(
  task: Task,
  {name, title}: {readonly name: string; readonly title: string},
  ledger: Ledger,
  {terminal, onEvent, settings = []}: RunningHost,
): void {
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
      if (name === 'resolve') for (const line of settings) log?.info(`  ${line}`);
    } else if (state === ListrTaskState.FAILED) {
      const error = explain(ledger.failure?.error, ledger);
      const code = isRuntimeCliError(error) ? error.code : undefined;
      onEvent?.({...event, status: 'failed', durationMs, code});
      log?.info(`${task.title ?? title} ${took}`);
    }
  });
}
