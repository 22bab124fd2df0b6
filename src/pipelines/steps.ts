import type {BackendCapability} from '../backends/contract.js';
import {chooseCapable} from '../operations/choose-backend.js';
import type {Outlet, RunHost} from '../operations/host.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions} from '../operations/options.js';
import {waitForTarget} from '../operations/targets/wait-for-target.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import {runPipeline, type Rows, type Step} from './run.js';

export interface BackendRequest {
  readonly connection: ProjectOptions;
  readonly needs: readonly BackendCapability[];
}

/** The first step of a run that works with one backend. */
export const choose: Step<BackendRequest> = {
  name: 'resolve',
  title: 'Prepare',
  run: ({request: {connection, needs}}, host) => chooseCapable(connection, needs, host),
};

/** Waits until a target is made, or published. A backend that lists none can't say when that is. */
export const waitForChanged: Step = {
  name: 'wait',
  title: 'Wait for the target',
  async run(ledger, {outlet}) {
    const {open, target, changedIn} = known(ledger, 'open', 'target');
    if (open.backend.listTargets === undefined) return {};
    const item = await waitForTarget(open, target.targetSlug);
    outlet.title(`Target ${item.targetSlug} ${changedIn === 'apply' ? 'has its settings' : 'is ready'}`);
    return {target: {...target, ...item}};
  },
};

interface BackendStep<Result> {
  readonly needs: readonly BackendCapability[];
  readonly name: string;
  readonly title: string;
  readonly run: (open: OpenBackend, outlet: Outlet) => Promise<Result>;
}

export async function withBackend<Result>(
  connection: ProjectOptions,
  host: PipelineHost,
  {needs, run: make, ...named}: BackendStep<Result>,
): Promise<Result> {
  const step: Step<BackendRequest> = {
    ...named,
    run: async (ledger, {outlet}) => ({result: await make(known(ledger, 'open').open, outlet)}),
  };
  const {result} = await runPipeline([choose, step], {connection, needs}, host);
  return result as Result;
}

interface FoundChange<Found, Result> {
  readonly needs: readonly BackendCapability[];
  /** Undefined: there is nothing to change. */
  readonly find: Omit<BackendStep<Found>, 'needs'>;
  /** Asks whether it is to be made. Resolves to whether there is something to make. @throws if the answer is no */
  readonly confirm: (open: OpenBackend, found: NonNullable<Found>, host: RunHost) => Promise<boolean>;
  readonly change: {
    readonly name: string;
    readonly title: (found: NonNullable<Found>) => string;
    readonly run: (
      ledger: Ledger & {readonly open: OpenBackend},
      found: NonNullable<Found>,
      outlet: Outlet,
    ) => Promise<Result>;
  };
  readonly after?: readonly Step<BackendRequest>[];
}

/** What came of a change that was looked for. Without `result`, it was not made. */
interface Changed<Found, Result> extends Pick<Ledger, 'warnings'> {
  readonly open: OpenBackend;
  readonly found: Found;
  readonly result?: Result | undefined;
}

export async function changeFound<Found, Result>(
  connection: ProjectOptions,
  host: PipelineHost,
  {needs, find, confirm, change, after = []}: FoundChange<Found, Result>,
): Promise<Changed<Found, Result>> {
  // What the first of these steps has found.
  const foundIn = (ledger: Ledger) => ledger.found as NonNullable<Found>;
  const isMade = ({isConfirmed}: Ledger) => isConfirmed === true;
  const rows: Rows<BackendRequest> = [
    choose,
    {...find, run: async (ledger, {outlet}) => ({found: await find.run(known(ledger, 'open').open, outlet)})},
    {
      async ask(ledger, running) {
        if (ledger.found === undefined) return;
        ledger.isConfirmed = await confirm(known(ledger, 'open').open, foundIn(ledger), running);
      },
    },
    {
      name: change.name,
      title: (ledger) => change.title(foundIn(ledger)),
      due: isMade,
      run: async (ledger, {outlet}) => ({result: await change.run(known(ledger, 'open'), foundIn(ledger), outlet)}),
    },
    ...after.map((step) => ({...step, due: isMade})),
  ];
  const ledger = await runPipeline(rows, {connection, needs}, host);
  const {open, warnings, result} = known(ledger, 'open');
  return {open, found: foundIn(ledger), result: result as Result | undefined, warnings};
}
