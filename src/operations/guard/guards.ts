import {resolve} from 'node:path';
import type {BundleId, DeployOperation} from '../../backends/contract.js';
import {writeNouns} from '../../backends/hooks.js';
import {readManifest} from '../../bundle/archive/manifest.js';
import {readWorkTree} from '../../bundle/provenance/git.js';
import {recordedCommit} from '../../bundle/provenance/provenance.js';
import {createError} from '../../errors/index.js';
import type {DeploymentWatch} from '../deploy/deploy-bundle.js';
import type {OpenBackend} from '../open-backend.js';
import type {CommonOptions, GuardOptions, GuardRules, TargetConfirmation} from '../options.js';
import type {Host} from '../host.js';
import type {PushRuntimeBundleBackendOptions} from '../push/options.js';
import type {DataOf} from '../outlet.js';
import {checks, type GuardedDeployment, type GuardedSource, type GuardName} from './checks.js';
import {recordOfBundle, runningBundles, type Problem} from './running-commit.js';
import {refuseUnsafe} from './safety.js';

type Options = Pick<CommonOptions, 'cwd'> & GuardOptions & {readonly projectDirectory?: string | undefined};

type PushOptions = DataOf<PushRuntimeBundleBackendOptions>;

/** The guards that are about the work tree, or about the commit of a bundle. */
const sourceGuards: ReadonlySet<GuardName> = new Set(['cleanTree', 'branch', 'notOlder']);
/** Those that compare with the clone, whatever is deployed. */
const treeGuards: ReadonlySet<GuardName> = new Set(['origin', 'notOlder']);
const guardNames = ['cleanTree', 'branch', 'notOlder', 'origin', 'ciOnly', 'confirm'] as const;

export function activeGuards(guard: GuardRules | undefined): readonly GuardName[] {
  return guardNames.filter((name) => guard?.[name] !== undefined && guard[name] !== false);
}

/** Whether a guard asks for the commit of a bundle. */
export function needsCommit(guard: GuardRules | undefined): boolean {
  return activeGuards(guard).some((name) => sourceGuards.has(name));
}

/**
 * The rules for a rollback, which must stay possible in an emergency and goes to an older commit on purpose, and for
 * what deploys nothing.
 */
export function changeRules({ciOnly, confirm}: GuardRules = {}): GuardRules {
  return {ciOnly, confirm};
}

/** Checks every guard that is on, even if others refuse already, so that one error names all of them. */
export async function checkGuards(deployment: GuardedDeployment, options: Options, host: Host): Promise<void> {
  const {guard = {}, confirmTarget} = options;
  const active = activeGuards(guard);
  const directory = resolve(host.cwd, options.cwd ?? '.', options.projectDirectory ?? '.');
  // What a bundle says about its commit needs no clone.
  const needy = active.some(
    (name) => treeGuards.has(name) || (deployment.source.kind === 'tree' && sourceGuards.has(name)),
  );
  const tree = needy ? await readWorkTree(directory, host.env) : undefined;
  const failures: GuardFailure[] = [];
  for (const [name, check] of Object.entries(checks)) {
    const own = active.find((one) => one === name);
    const problem = own && (await check({deployment, guard, confirmTarget, directory, tree, host}));
    if (problem) failures.push({guard: own, ...problem});
  }
  if (failures.length > 0) throw guardRefusal(deployment.confirmation, failures);
}

/** A deployment of a bundle that is on the service already. */
type BundleDeployment = TargetConfirmation & {readonly bundleId: BundleId};

/**
 * Checks the guards for a bundle that is on the service already: what it says about its commit counts, not the work
 * tree.
 */
export async function guardBundle(
  confirmation: BundleDeployment,
  open: OpenBackend,
  options: Options,
  host: Host,
): Promise<void> {
  const {bundleId, targetSlug} = confirmation;
  const recorded = needsCommit(options.guard) ? await recordOfBundle(open, bundleId) : undefined;
  const source = {kind: 'bundle', name: `Bundle ${String(bundleId)}`, recorded} as const;
  await checkGuards({confirmation, source, running: () => runningBundles(open, targetSlug)}, options, host);
}

/** `Guards of production: cleanTree, branch` */
export function describeGuards(targetSlug: string, guard: GuardRules | undefined): string {
  return `Guards of ${targetSlug}: ${activeGuards(guard).join(', ')}`;
}

/**
 * Checks `notOlder` again right before each request that starts a deployment, then goes on as `watch`: others may have
 * deployed during the build, the upload or the wait for the target.
 * @param check checks the given rules.
 */
export function watchNotOlder(
  watch: DeploymentWatch | undefined,
  {guard}: GuardOptions,
  check: (open: OpenBackend, rules: GuardRules) => Promise<void>,
): DeploymentWatch | undefined {
  if (!activeGuards(guard).includes('notOlder')) return watch;
  return {
    async look(open) {
      await check(open, {notOlder: true});
      await watch?.look(open);
    },
    note(accepted) {
      watch?.note(accepted);
    },
  };
}

/** Asks a person to type the name of the target, if `guard.confirm` is on. */
export async function askForTarget(
  confirmation: TargetConfirmation,
  {guard, confirmTarget}: GuardOptions,
): Promise<void> {
  if (!activeGuards(guard).includes('confirm')) return;
  const typed = await confirmTarget?.(confirmation);
  if (typed?.trim() === confirmation.targetSlug) return;
  const message = 'The name of the target was not confirmed.';
  const suggestion = `Run the command again and type ${confirmation.targetSlug}.`;
  throw guardRefusal(confirmation, [{guard: 'confirm', message, suggestion}]);
}

interface GuardFailure extends Problem {
  readonly guard: GuardName;
}

function guardRefusal({operation, targetSlug}: TargetConfirmation, failures: readonly GuardFailure[]): Error {
  const sentences = [...new Set(failures.map(({message}) => message))].join(' ');
  const refuse = `${failures.length === 1 ? 'A guard' : `${String(failures.length)} guards`} of ${targetSlug} blocked`;
  return createError('ERR_GUARD_REFUSED', `${refuse} this ${writeNouns[operation]}. ${sentences}`, {
    suggestions: [...new Set(failures.map(({suggestion}) => suggestion))],
    details: {targetSlug, failures: failures.map(({guard, message}) => ({guard, message}))},
  });
}

export function isGuarded({targetSlug, guard}: PushOptions): boolean {
  return targetSlug !== undefined && activeGuards(guard).length > 0;
}

/** Checks again what the target runs right before each request that starts the deployment of a push. */
export function watchPush(
  watch: DeploymentWatch | undefined,
  options: PushOptions,
  host: Host,
): DeploymentWatch | undefined {
  return watchNotOlder(watch, options, (open, guard) => checkPush(open, {...options, guard}, host));
}

export async function checkPush(open: OpenBackend, options: PushOptions, host: Host): Promise<void> {
  const {projectSlug, targetSlug = ''} = options;
  const confirmation = {operation: 'push', projectSlug, targetSlug} as const;
  const source = await pushSource(options, host);
  await checkGuards({confirmation, source, running: () => runningBundles(open, targetSlug)}, options, host);
}

/** A change of a target that deploys nothing. */
interface TargetChange extends GuardOptions, Pick<CommonOptions, 'cwd'> {
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** Whether nobody is asked, since nothing will be changed. */
  readonly dryRun?: boolean | undefined;
}

/**
 * Checks `MYCLI_SAFETY` and the guards that are about who changes a target, not about what is deployed to it, and asks
 * that person.
 */
export async function guardTarget(
  operation: Exclude<TargetConfirmation['operation'], DeployOperation>,
  {guard, dryRun = false, ...options}: TargetChange,
  host: Host,
): Promise<void> {
  const {projectSlug, targetSlug, production} = options;
  refuseUnsafe({operation, targetSlug, production}, host);
  const confirmation = {operation, projectSlug, targetSlug};
  const rules = {...options, guard: changeRules(guard)};
  const source = {kind: 'bundle', name: targetSlug, recorded: undefined} as const;
  await checkGuards({confirmation, source, running: () => Promise.resolve([])}, rules, host);
  if (!dryRun) await askForTarget(confirmation, rules);
}

/** What a push deploys: what is built from the work tree, or a prebuilt archive, whose manifest knows its commit. */
async function pushSource(options: PushOptions, host: Host): Promise<GuardedSource> {
  const {archive, cwd = host.cwd, buildDirectory = 'build'} = options;
  if (archive === undefined) return {kind: 'tree', buildDirectory: resolve(host.cwd, cwd, buildDirectory)};
  const manifest = await readManifest(resolve(host.cwd, cwd, archive));
  const {commit, branch, dirty = false} = manifest?.provenance ?? {};
  const recorded = commit === undefined ? manifest && recordedCommit(manifest.message) : {commit, branch, dirty};
  return {kind: 'bundle', name: archive, recorded};
}
