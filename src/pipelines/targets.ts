import type {
  ChangedTarget,
  CreateTargetOptions,
  CreatedTarget,
  DeleteTargetOptions,
  DeletedTarget,
  ListTargetsResult,
  ListVariablesResult,
  TailLogsOptions,
  TargetChangeOptions,
} from '../operations/targets/options.js';
import {isRuntimeCliError} from '../errors/index.js';
import {chooseCapable} from '../operations/choose-backend.js';
import {lookForPlace, type PlaceOptions} from '../operations/deploy/new-place.js';
import {planRelease} from '../operations/deploy/release.js';
import {guardTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {quickLook} from '../operations/call-backend.js';
import {liveDeployment, readHistory} from '../operations/list-bundles.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {NewPlace, ProjectOptions, TargetOptions} from '../operations/options.js';
import {createTargetIn, findRequested} from '../operations/targets/create-target.js';
import {makeChange, type TargetChange} from '../operations/targets/changes.js';
import {variablesOf, verifyConfiguration} from '../operations/targets/compare-target.js';
import {reportMade, warnOfOpenCopy} from '../operations/targets/copy-target.js';
import {deleteTargetFrom, findDoomed} from '../operations/targets/delete-target.js';
import {followLogs} from '../operations/targets/tail-logs.js';
import {previewBranch} from '../operations/targets/previews.js';
import {explainEmpty, readTargets, withTarget} from '../operations/targets/find-targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {known} from './ledger.js';
import {confirmNew, confirmTarget, guard} from './release-steps.js';
import {runPipeline, type Rows, type Step} from './run.js';
import {applyToMade, withAccessValue, type ConfigureRequest} from './configure.js';
import {changeFound, choose, waitForChanged, withBackend} from './steps.js';

export async function listTargets(options: ProjectOptions, host: PipelineHost): Promise<ListTargetsResult> {
  return withBackend(options, host, {
    needs: ['targets'],
    name: 'list',
    title: `List the targets of ${options.projectSlug}`,
    async run(open, outlet) {
      const targets = await readTargets(open);
      if (targets.length === 0) await explainEmpty(open, 'targets');
      outlet.title(`Found ${count(targets.length, 'target')} of ${open.projectSlug}`);
      return {...open.project, targets};
    },
  }).catch(withTarget);
}

/**
 * The slugs of a project's targets, to improve a message: a look that nobody hears of. Undefined if it fails.
 * @throws RuntimeCliError if the credentials reach other projects, but not this one
 */
export function glanceAtTargets(options: ProjectOptions, host: PipelineHost): Promise<readonly string[] | undefined> {
  const unheard = {...host, terminal: undefined, onEvent: undefined};
  const run = async (open: OpenBackend) => {
    const targets = await quickLook(open, readTargets);
    if (targets?.length === 0) await explainEmpty(open, 'targets');
    return targets?.map(({targetSlug}) => targetSlug);
  };
  return withBackend(options, unheard, {needs: ['targets'], name: 'list', title: '', run}).catch((error: unknown) => {
    if (isRuntimeCliError(error) && error.code === 'ERR_REJECTED') throw error;
    return undefined;
  });
}

/** The target or the project that a push would create. @throws RuntimeCliError if that is forbidden */
export function findNewPlace(
  options: ProjectOptions & PlaceOptions,
  host: PipelineHost,
): Promise<NewPlace | undefined> {
  // It is only found.
  const place = {...options, confirmNew: () => Promise.resolve()};
  const run = async (open: OpenBackend) => (await lookForPlace(open, place)).newPlace;
  return withBackend(options, host, {needs: [], name: 'look', title: '', run});
}

const waitIfAsked: Step<ConfigureRequest<Pick<CreateTargetOptions, 'wait' | 'dryRun'>>> = {
  ...waitForChanged,
  due: ({request: {options}}) => options.wait === true && options.dryRun !== true,
};

interface CreateRequest extends ConfigureRequest<CreateTargetOptions> {
  readonly connection: ProjectOptions & PlaceOptions;
}

const resolve: Step<CreateRequest> = {
  ...choose,
  async run(ledger, host) {
    const {connection, needs, options} = ledger.request;
    const chosen = await chooseCapable(connection, needs, host);
    Object.assign(ledger, chosen);
    return lookForPlace(chosen.open, {...options, makesTarget: true});
  },
};

/** A copy runs what its source runs, so its guards are asked as for a deployment. */
const guardCopy: Step<ConfigureRequest<CreateTargetOptions>> = {
  ...guard,
  async run(ledger, host) {
    const {open, request} = known(ledger, 'open');
    const {copyFrom = ''} = request.options;
    if ((await findRequested(open, request.options)) !== undefined) return {isConfirmed: true};
    const history = open.backend.listDeployments && (await readHistory(open, copyFrom));
    if (history?.length === 0) return {isConfirmed: true};
    const copied = {...ledger, bundleId: history && liveDeployment(history)?.bundleId};
    return {...(await guard.run(copied, host)), isConfirmed: request.options.dryRun};
  },
};

const create: Step<ConfigureRequest<CreateTargetOptions>> = {
  name: 'create',
  title: ({request}) => `Create target ${request.options.targetSlug}`,
  async run(ledger, {outlet}) {
    const {open, request} = known(ledger, 'open');
    const {dryRun = false, wait, copyFrom, configuration = {}} = request.options;
    const target = await createTargetIn(open, request.options);
    const {targetSlug} = target;
    const outcome = dryRun ? 'Would create' : target.created ? 'Created' : 'Found';
    outlet.title(`${outcome} target ${targetSlug}`);
    const isNew = dryRun || target.created;
    if (isNew && copyFrom !== undefined && configuration.access !== true) {
      const own = `set targets.${targetSlug}.access to true, and apply it with target:apply.`;
      const ofPreviews = 'set preview.access to true, which the next preview:up applies.';
      const advice = previewBranch(request.options) === undefined ? own : ofPreviews;
      await warnOfOpenCopy(open, copyFrom, targetSlug, {dryRun, advice});
    }
    if (dryRun) return {target: {...target, ...(await reportMade(open, request.options))}};
    if (copyFrom !== undefined && !wait)
      outlet.warn(
        `Without waiting, ${targetSlug} may still be deploying. It may lack settings of ${copyFrom}, such as proxies, ` +
          'and still have its host name.',
      );
    const isDescribed = Object.keys(configuration).length > 0;
    if (isDescribed && !wait)
      outlet.warn(`Without waiting, ${targetSlug} is not configured. Run target:apply once it is ready.`);
    return {target, isDescribed};
  },
};

/** @param completes whether a target that is there already is completed as a new one is */
export async function createTarget(
  given: CreateTargetOptions,
  caller: PipelineHost,
  completes = false,
): Promise<CreatedTarget> {
  const {value, host} = withAccessValue(caller);
  const options = {...given, wait: given.wait ?? true};
  verifyConfiguration(options.configuration ?? {});
  // The service may not make the target under this slug, so it need not fit the backend.
  const {targetSlug: _, ...connection} = options;
  // A preview's options have what follows its push.
  const noFollowUps = {wait: undefined, check: undefined, rollbackOnFailure: undefined, invalidate: undefined};
  const planned = planRelease('create-target', {...options, ...noFollowUps}, host);
  const release = options.copyFrom === undefined ? undefined : planned;
  const request = {connection, needs: ['create-target'] as const, options, release};
  const rows: Rows<CreateRequest> = [
    resolve,
    guardCopy,
    confirmNew,
    confirmTarget,
    create,
    waitIfAsked,
    ...applyToMade(value, completes),
  ];
  const ledger = await runPipeline(rows, request, host);
  const {open, target, warnings} = known(ledger, 'open', 'target');
  return {...open.project, created: false, ...target, warnings};
}

export async function deleteTarget(options: DeleteTargetOptions, host: PipelineHost): Promise<DeletedTarget> {
  const {targetSlug, production, confirm, dryRun = false} = options;
  refuseUnsafe({operation: 'delete-target', targetSlug, production}, host);
  const {open, found, result, warnings} = await changeFound(options, host, {
    needs: ['delete-target'],
    find: {
      name: 'find',
      title: `Check target ${targetSlug}`,
      async run(backend, outlet) {
        const target = await findDoomed(backend, options);
        outlet.title(target === undefined ? `Found no target ${targetSlug}` : `Found target ${targetSlug}`);
        return target;
      },
    },
    async confirm(backend, target, running) {
      await guardTarget('delete-target', options, running);
      if (!dryRun) await confirm?.(backend.project.backend, target);
      return true;
    },
    change: {
      name: 'delete',
      title: () => `Delete target ${targetSlug}`,
      async run(ledger, target, outlet) {
        const isDone = await deleteTargetFrom(ledger.open, target, options);
        const done = `${dryRun ? 'Would delete' : 'Deleted'} target ${targetSlug}`;
        outlet.title(isDone ? done : `Target ${targetSlug} was already deleted`);
        return isDone && !dryRun;
      },
    },
  });
  return {...open.project, targetSlug, running: found?.running, dryRun, deleted: result === true, warnings};
}

export async function listVariables(options: TargetOptions, host: PipelineHost): Promise<ListVariablesResult> {
  const {targetSlug} = options;
  return withBackend(options, host, {
    needs: ['variables'],
    name: 'list',
    title: `List the variables of ${targetSlug}`,
    async run(open, outlet) {
      const variables = await variablesOf(open, targetSlug);
      outlet.title(`Found ${count(variables.length, 'variable')} for ${targetSlug} of ${open.projectSlug}`);
      return {...open.project, targetSlug, variables};
    },
  });
}

export function changeTarget<
  Options extends TargetChangeOptions & {readonly wait?: boolean | undefined},
  Request extends {readonly targetSlug: string},
  Made extends object,
>(change: TargetChange<Options, Request, Made>) {
  return async (options: Options, host: PipelineHost): Promise<ChangedTarget & Made> => {
    const {targetSlug, wait = false, dryRun = false} = options;
    const request = change.request(options);
    const masking = {...host, secrets: [...(host.secrets ?? []), ...(change.secrets?.(request) ?? [])]};
    await guardTarget(change.operation, options, masking);
    let sent: Request | undefined;
    const row: Step<ConfigureRequest<Options>> = {
      name: change.name,
      title: change.title(request),
      async run(ledger, {outlet}) {
        const {open} = known(ledger, 'open');
        sent = change.narrow === undefined ? request : await change.narrow(open, request);
        if (sent !== undefined) await makeChange(open, change, sent, {dryRun});
        outlet.title(sent === undefined ? `Nothing to change on ${targetSlug}` : change.outcome(sent, dryRun));
        return {target: {targetSlug}};
      },
    };
    const needs = [change.capability, ...(wait ? (['targets'] as const) : [])];
    const ledger = await runPipeline([choose, row, waitIfAsked], {connection: options, needs, options}, masking);
    const {open, warnings} = known(ledger, 'open');
    return {...open.project, targetSlug, ...change.made(sent), dryRun, warnings};
  };
}

/** Opens the logs of a target. They connect once they are read. */
export async function openLogs(options: TailLogsOptions, host: PipelineHost) {
  const {open} = known(await runPipeline([choose], {connection: options, needs: ['tail-logs']}, host), 'open');
  return {backend: open.project.backend, entries: followLogs(open, options), clockAheadMs: open.clockAheadMs};
}
