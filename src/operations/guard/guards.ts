import {resolve} from 'node:path';
import type {BundleId, DeployOperation} from '../../backends/contract.js';
import {writeNouns} from '../../backends/contract/hooks.js';
import {readManifest} from '../../bundle/archive/manifest.js';
import {readWorkTree} from '../../bundle/provenance/git.js';
import {recordedCommit} from '../../bundle/provenance/provenance.js';
import {createError} from '../../errors/index.js';
import type {Release} from '../deploy/release.js';
import type {OpenBackend} from '../open-backend.js';
import type {GuardOptions, GuardRules, TargetConfirmation} from '../options.js';
import type {Host} from '../host.js';
import type {TargetChangeOptions} from '../targets/options.js';
import {guardChecks, type GuardedDeployment, type GuardedSource, type GuardName} from './checks.js';
import {recordOfBundle, runningBundles, type Problem} from './running-commit.js';
import {refuseUnsafe} from './safety.js';

export function activeGuards({guard}: GuardOptions): readonly GuardName[] {
  const names = Object.keys(guardChecks) as GuardName[];
  return names.filter((name) => guard?.[name] !== undefined && guard[name] !== false);
}

/** Whether a guard asks for the commit of a bundle. */
export function needsCommit(options: GuardOptions): boolean {
  return activeGuards(options).some((name) => guardChecks[name].ofSource);
}

/** The rules for what deploys nothing, and for a rollback, which goes to an older commit on purpose. */
export function changeRules({ciOnly, confirm}: GuardRules = {}): GuardRules {
  return {ciOnly, confirm};
}

/** Checks the guards of a deployment. A bundle on the service has a commit of its own, whatever the work tree has. */
export async function checkGuards(release: Release, open: OpenBackend, bundleId: BundleId | undefined): Promise<void> {
  const {operation, projectSlug, targetSlug} = release;
  const source =
    operation === 'push' ? await pushSource(release, open.host) : await bundleSource(release, open, bundleId);
  const confirmation = {operation, projectSlug, targetSlug, bundleId};
  // A new target runs nothing.
  const running = async () => (operation === 'create-target' ? [] : runningBundles(open, targetSlug));
  await checkAll({confirmation, source, running}, release, open.host);
}

/** Checks `notOlder` again right before a deployment is requested: others may have deployed meanwhile. */
export async function checkNotOlder(release: Release, open: OpenBackend, bundleId?: BundleId): Promise<void> {
  if (activeGuards(release).includes('notOlder'))
    await checkGuards({...release, guard: {notOlder: true}}, open, bundleId);
}

/** Checks every guard that is on, even if others refuse already, so that one error names all of them. */
async function checkAll(deployment: GuardedDeployment, options: GuardedOptions, host: Host): Promise<void> {
  const {guard = {}, confirmTarget} = options;
  const active = activeGuards(options);
  const directory = resolve(host.cwd, options.cwd ?? '.', options.projectDirectory ?? '.');
  // What a bundle says about its commit needs no clone.
  const isTree = deployment.source.kind === 'tree';
  const needsTree = active.some((name) => guardChecks[name].ofClone || (isTree && guardChecks[name].ofSource));
  const tree = needsTree ? await readWorkTree(directory, host.env) : undefined;
  const failures: GuardFailure[] = [];
  for (const name of active) {
    const problem = await guardChecks[name].check({deployment, guard, confirmTarget, directory, tree, host});
    if (problem) failures.push({guard: name, ...problem});
  }
  if (failures.length > 0) throw guardRefusal(deployment.confirmation, failures);
}

type GuardedOptions = GuardOptions & Pick<Release, 'cwd' | 'projectDirectory'>;

export async function askForTarget(confirmation: TargetConfirmation, options: GuardOptions): Promise<void> {
  if (!activeGuards(options).includes('confirm')) return;
  const typed = await options.confirmTarget?.(confirmation);
  if (typed?.trim() === confirmation.targetSlug) return;
  const nothing = confirmation.operation === 'delete-target' ? ' Nothing was deleted.' : '';
  const message = `The name of the target was not confirmed.${nothing}`;
  const suggestion = `Run the command again and type ${confirmation.targetSlug}.`;
  throw guardRefusal(confirmation, [{guard: 'confirm', message, suggestion}]);
}

interface GuardFailure extends Problem {
  readonly guard: GuardName;
}

function guardRefusal({operation, targetSlug}: TargetConfirmation, failures: readonly GuardFailure[]): Error {
  const sentences = [...new Set(failures.map(({message}) => message))].join(' ');
  const names = new Intl.ListFormat('en').format(failures.map(({guard}) => guard));
  const guards = `The guard${failures.length === 1 ? '' : 's'} ${names} of ${targetSlug}`;
  return createError('ERR_GUARD_REFUSED', `${guards} blocked this ${writeNouns[operation]}. ${sentences}`, {
    suggestions: [...new Set(failures.map(({suggestion}) => suggestion))],
    details: {targetSlug, failures: failures.map(({guard, message}) => ({guard, message}))},
  });
}

/** Checks `MYCLI_SAFETY` and who changes a target, and asks that person, unless it is a dry run. */
export async function guardTarget(
  operation: Exclude<TargetConfirmation['operation'], DeployOperation>,
  {guard, dryRun = false, ...options}: TargetChangeOptions,
  host: Host,
): Promise<void> {
  const {projectSlug, targetSlug, production} = options;
  refuseUnsafe({operation, targetSlug, production}, host);
  const confirmation = {operation, projectSlug, targetSlug};
  const rules = {...options, guard: changeRules(guard)};
  const source = {kind: 'bundle', name: targetSlug, recorded: undefined} as const;
  await checkAll({confirmation, source, running: () => Promise.resolve([])}, rules, host);
  if (!dryRun) await askForTarget(confirmation, rules);
}

/** What a push deploys: what is built from the work tree, or a prebuilt archive, whose manifest knows its commit. */
async function pushSource(release: Release, host: Host): Promise<GuardedSource> {
  const {archive, cwd = host.cwd, buildDirectory = 'build'} = release;
  if (archive === undefined) return {kind: 'tree', buildDirectory: resolve(host.cwd, cwd, buildDirectory)};
  const manifest = await readManifest(resolve(host.cwd, cwd, archive));
  const {commit, branch, dirty = false} = manifest?.provenance ?? {};
  const recorded = commit === undefined ? manifest && recordedCommit(manifest.message) : {commit, branch, dirty};
  return {kind: 'bundle', name: archive, recorded};
}

/** What is on the service. A copy may be of a target of which no backend tells what it runs. */
async function bundleSource(
  release: Release,
  open: OpenBackend,
  bundleId: BundleId | undefined,
): Promise<GuardedSource> {
  if (bundleId === undefined) return {kind: 'bundle', name: 'The bundle of the copy', recorded: undefined};
  const recorded = needsCommit(release) ? await recordOfBundle(open, bundleId) : undefined;
  return {kind: 'bundle', name: `Bundle ${String(bundleId)}`, recorded};
}
