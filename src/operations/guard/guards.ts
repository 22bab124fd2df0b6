import {resolve} from 'node:path';
import {ciRunOf} from '../../bundle/provenance/ci.js';
import {changedFiles, readWorkTree, type WorkTree} from '../../bundle/provenance/git.js';
import type {RecordedCommit} from '../../bundle/provenance/provenance.js';
import {compilePatterns} from '../../bundle/index.js';
import {createError} from '../../errors/index.js';
import type {DeploymentWatch} from '../deploy/request-deploy.js';
import type {OpenBackend} from '../open-backend.js';
import type {CommonOptions, GuardOptions, GuardRules, TargetConfirmation} from '../options.js';
import type {Host} from '../host.js';
import {remoteKey, shownRemote} from './remotes.js';
import {commitProblem, type Problem, type RunningBundle} from './running-commit.js';

/** The name of a guard. */
type GuardName = keyof GuardRules;

/** What is to be deployed: the work tree, or a bundle and what it says about its commit. */
export type GuardedSource =
  | {readonly kind: 'tree'; readonly buildDirectory: string}
  | {readonly kind: 'bundle'; readonly name: string; readonly recorded: RecordedCommit | undefined};

/** A deployment to be checked. */
interface GuardedDeployment {
  readonly confirmation: TargetConfirmation;
  readonly source: GuardedSource;
  /** What the target runs and gets, for `notOlder`. Rejects if that cannot be found out. */
  readonly running: () => Promise<readonly RunningBundle[]>;
}

type Options = Pick<CommonOptions, 'cwd'> & GuardOptions & {readonly projectDirectory?: string | undefined};

/** The guards that are about the work tree, or about the commit of a bundle. */
const sourceGuards = ['cleanTree', 'branch', 'notOlder'] as const;
const guardNames = [...sourceGuards, 'origin', 'ciOnly', 'confirm'] as const satisfies readonly GuardName[];

/** The guards that are on. */
export function activeGuards(guard: GuardRules | undefined): readonly GuardName[] {
  return guardNames.filter((name) => guard?.[name] !== undefined && guard[name] !== false);
}

/** Whether a guard asks for the commit of a bundle. */
export function needsCommit(guard: GuardRules | undefined): boolean {
  return activeGuards(guard).some((name) => sourceGuards.some((needed) => needed === name));
}

/** The rules for a rollback. It must stay possible in an emergency, and goes to an older commit on purpose. */
export function rollbackRules({ciOnly, confirm}: GuardRules = {}): GuardRules {
  return {ciOnly, confirm};
}

/** How each guard is checked. `notOlder` asks the service, so it is the last. */
const checks: Readonly<Record<GuardName, (checking: Checking) => Outcome | Promise<Outcome>>> = {
  cleanTree: checkCleanTree,
  branch: checkBranch,
  origin: checkOrigin,
  ciOnly: checkCi,
  confirm: checkConfirm,
  notOlder: checkNotOlder,
};

/**
 * Checks every guard that is on, even if others refuse already, so that one error names all of them.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED` with a failure for each guard that refuses.
 */
export async function checkGuards(deployment: GuardedDeployment, options: Options, host: Host): Promise<void> {
  const {guard = {}, confirmTarget} = options;
  const active = activeGuards(guard);
  const directory = resolve(host.cwd, options.cwd ?? '.', options.projectDirectory ?? '.');
  const tree = active.some((name) => name !== 'ciOnly' && name !== 'confirm')
    ? await readWorkTree(directory, host.env)
    : undefined;
  const failures: GuardFailure[] = [];
  for (const [name, check] of Object.entries(checks)) {
    const own = active.find((one) => one === name);
    const problem = own && (await check({deployment, guard, confirmTarget, directory, tree, host}));
    if (problem) failures.push({guard: own, ...problem});
  }
  if (failures.length > 0) throw guardRefusal(deployment.confirmation, failures);
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

/**
 * Asks a person to type the name of the target, if `guard.confirm` is on.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED` if something else was typed.
 */
export async function askForTarget(
  confirmation: TargetConfirmation,
  {guard, confirmTarget}: GuardOptions,
): Promise<void> {
  if (!activeGuards(guard).includes('confirm')) return;
  const typed = confirmTarget === undefined ? '' : await confirmTarget(confirmation);
  if (typed.trim() === confirmation.targetSlug) return;
  throw guardRefusal(confirmation, [
    {
      guard: 'confirm',
      message: `The name of the target was not confirmed.`,
      suggestion: `Run the command again and type ${confirmation.targetSlug}.`,
    },
  ]);
}

interface GuardFailure extends Problem {
  readonly guard: GuardName;
}

const nouns = {push: 'push', deploy: 'deployment', promote: 'promotion', rollback: 'rollback'} as const;

function guardRefusal({operation, targetSlug}: TargetConfirmation, failures: readonly GuardFailure[]): Error {
  const sentences = [...new Set(failures.map(({message}) => message))].join(' ');
  const refuse = failures.length === 1 ? 'A guard refuses' : `${String(failures.length)} guards refuse`;
  return createError('ERR_GUARD_REFUSED', `${refuse} this ${nouns[operation]} to ${targetSlug}. ${sentences}`, {
    suggestions: [...new Set(failures.map(({suggestion}) => suggestion))],
    details: {targetSlug, failures: failures.map(({guard, message}) => ({guard, message}))},
  });
}

interface Checking extends Pick<GuardOptions, 'confirmTarget'> {
  readonly deployment: GuardedDeployment;
  readonly guard: GuardRules;
  /** Absolute. */
  readonly directory: string;
  readonly tree: WorkTree | undefined;
  readonly host: Host;
}

type Outcome = Problem | undefined;

/** How many of the changed files an error names. */
const shownFiles = 5;

async function checkCleanTree({deployment: {source}, directory, host}: Checking): Promise<Outcome> {
  if (source.kind === 'bundle') {
    if (source.recorded === undefined) return unknownCommit(source.name);
    if (!source.recorded.dirty) return undefined;
    const suggestion = 'Commit the changes and push a bundle of that commit.';
    return {message: `${source.name} was built with uncommitted changes.`, suggestion};
  }
  const without = [resolve(directory, source.buildDirectory), ...(host.ownFiles ?? [])];
  const files = await changedFiles(directory, without, host.env);
  if (files === undefined) return noRepository(directory);
  if (files.length === 0) return undefined;
  const more = files.length > shownFiles ? ` and ${String(files.length - shownFiles)} more` : '';
  const message = `Not everything is committed: ${files.slice(0, shownFiles).join(', ')}${more}.`;
  return {message, suggestion: 'Commit the files, stash them with git stash -u, or add them to .gitignore.'};
}

function checkBranch({deployment: {source}, guard: {branch: patterns = []}, directory, tree, host}: Checking): Outcome {
  const allowed = `Allowed: ${patterns.join(', ')}.`;
  const suggestion = 'Merge it into an allowed branch and push from there.';
  const isAllowed = (branch: string) => compilePatterns(patterns).matches(branch);
  if (source.kind === 'bundle') {
    const {name, recorded} = source;
    if (recorded === undefined) return unknownCommit(name);
    const {branch} = recorded;
    if (branch === undefined) {
      const message = `${name} does not say on which branch it was built. ${allowed}`;
      return {message, suggestion: 'Push it again from a branch.'};
    }
    if (isAllowed(branch)) return undefined;
    return {message: `${name} was built on the branch ${branch}. ${allowed}`, suggestion};
  }
  if (tree === undefined) return noRepository(directory);
  const run = ciRunOf(host.env);
  // CI systems often check out a commit without its branch, and name that.
  const branch = tree.branch ?? (run?.commit === tree.commit ? run.branch : undefined);
  if (branch !== undefined) {
    return isAllowed(branch) ? undefined : {message: `The branch ${branch} is checked out. ${allowed}`, suggestion};
  }
  return {
    message: `No branch is checked out. ${allowed}`,
    suggestion:
      run === undefined
        ? 'Check out a branch: git switch BRANCH.'
        : 'Deploy from a build of a branch: builds of pull requests and tags have none.',
  };
}

function checkOrigin({guard: {origin = ''}, directory, tree}: Checking): Outcome {
  if (tree === undefined) return noRepository(directory);
  if (tree.origin !== undefined && remoteKey(tree.origin) === remoteKey(origin)) return undefined;
  const found =
    tree.origin === undefined
      ? 'has no remote named origin'
      : `is a clone of ${shownRemote(tree.origin) ?? 'a local folder'}`;
  return {
    message: `The repository must be a clone of ${shownRemote(origin) ?? origin}, but ${found}.`,
    suggestion: 'Run the command in a clone of that repository. See: git remote -v',
  };
}

function checkCi({deployment, host}: Checking): Outcome {
  if (ciRunOf(host.env) !== undefined) return undefined;
  const {targetSlug} = deployment.confirmation;
  return {
    message: `Only CI may deploy to ${targetSlug}.`,
    suggestion: `Let CI do it. In an emergency, set targets.${targetSlug}.guard.ciOnly to false in the configuration file.`,
  };
}

/** Whether there is somebody to ask. */
function checkConfirm({deployment, guard: {ciOnly}, confirmTarget, host}: Checking): Outcome {
  if (confirmTarget !== undefined) return undefined;
  const {targetSlug} = deployment.confirmation;
  const message = `A person must type "${targetSlug}" to confirm, but`;
  if (ciRunOf(host.env) === undefined) {
    const suggestion = 'Run the command in a terminal. No flag replaces the confirmation.';
    return {message: `${message} there is no terminal to ask in.`, suggestion};
  }
  const off = ciOnly === true ? 'Only one of ciOnly and confirm can hold: set the other to false' : 'Turn it off';
  return {
    message: `${message} this is a CI run.`,
    suggestion: `${off} in targets.${targetSlug}.guard, or run the command outside CI.`,
  };
}

async function checkNotOlder({deployment, directory, tree, host}: Checking): Promise<Outcome> {
  const {source, confirmation, running} = deployment;
  if (tree === undefined) return noRepository(directory);
  if (source.kind === 'bundle' && source.recorded === undefined) return unknownCommit(source.name);
  const commit = source.kind === 'bundle' ? source.recorded?.commit : tree.commit;
  const {bundleId, targetSlug} = confirmation;
  for (const one of await running()) {
    // The same bundle again is not older.
    if (bundleId !== undefined && one.bundleId === bundleId) continue;
    const problem = await commitProblem({commit: commit ?? '', running: one, targetSlug}, directory, host.env);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function noRepository(directory: string): Problem {
  return {
    message: `${directory} is not in a git work tree with a commit, or git cannot be run.`,
    suggestion: 'Run the command in a clone of the repository, with git in PATH.',
  };
}

function unknownCommit(name: string): Problem {
  return {
    message: `${name} does not say which commit it was built from.`,
    suggestion: 'Push it again, without --message or with recordCommit: true in the configuration file.',
  };
}
