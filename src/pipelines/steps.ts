import type {BackendCapability} from '../backends/contract.js';
import {chooseCapable} from '../operations/choose-backend.js';
import type {Outlet} from '../operations/host.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions} from '../operations/options.js';
import {waitForTarget} from '../operations/targets/wait-for-target.js';
import type {PipelineHost} from './host.js';
import {known} from './ledger.js';
import {run, type Step} from './run.js';

/** How a run chooses a backend, and reaches it. */
export interface BackendRequest {
  readonly connection: ProjectOptions;
  /** What it must be capable of. */
  readonly needs: readonly BackendCapability[];
}

/** The first step of a run that works with one backend. */
export const choose: Step<BackendRequest> = {
  name: 'resolve',
  title: 'Prepare',
  run: ({request: {connection, needs}}, host) => chooseCapable(connection, needs, host),
};

/** A change of a target. */
export interface TargetRequest<Options> extends BackendRequest {
  readonly options: Options;
}

type WaitingRequest = TargetRequest<{readonly wait?: boolean | undefined; readonly dryRun?: boolean | undefined}>;

/** Waits until a target is made, or published. A backend that lists none can't say when that is. */
export const waitForChanged: Step<WaitingRequest> = {
  name: 'wait',
  title: 'Wait for the target',
  due: ({request: {options}}) => options.wait === true && options.dryRun !== true,
  async run(ledger, {outlet}) {
    const {open, target} = known(ledger, 'open', 'target');
    if (open.backend.listTargets === undefined) return {};
    const item = await waitForTarget(open, target.targetSlug);
    outlet.title(`Target ${item.targetSlug} is ready`);
    return {target: {...target, ...item}};
  },
};

/** A step that works with a backend. */
interface BackendStep<Result> {
  /** What the backend must be capable of. */
  readonly needs: readonly BackendCapability[];
  readonly name: string;
  readonly title: string;
  readonly run: (open: OpenBackend, outlet: Outlet) => Promise<Result>;
}

/** Runs one step with a backend that is capable of it. Resolves to what it makes. */
export async function withBackend<Result>(
  connection: ProjectOptions,
  host: PipelineHost,
  {needs, run: make, ...named}: BackendStep<Result>,
): Promise<Result> {
  const step: Step<BackendRequest> = {
    ...named,
    run: async (ledger, {outlet}) => ({result: await make(known(ledger, 'open').open, outlet)}),
  };
  const {result} = await run([choose, step], {connection, needs}, host);
  // The step has made it.
  return result as Result;
}
