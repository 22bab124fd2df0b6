import {resolve} from 'node:path';
import {ciRunOf} from '../../bundle/provenance/ci.js';
import {changedFiles, readWorkTree, type WorkTree} from '../../bundle/provenance/git.js';
import type {RecordedCommit} from '../../bundle/provenance/provenance.js';
import {compilePatterns} from '../../bundle/index.js';
import {createError} from '../../errors/index.js';
import type {Suggestion} from '../../errors/suggestion.js';
import type {DeploymentWatch} from '../deploy/request-deploy.js';
import type {OpenBackend} from '../open-backend.js';
import type {CommonOptions, GuardOptions, GuardRules, TargetConfirmation} from '../options.js';
import type {Host} from '../host.js';
import {remoteKey, shownRemote} from './remotes.js';
import {commitProblem, type RunningBundle} from './running-commit.js';

/** The name of a guard. */
export type GuardName = keyof GuardRules;

/** Why a guard refuses. */
export interface GuardFailure {
  readonly guard: GuardName;
  /** One sentence, or two. */
  readonly message: string;
  readonly suggestion: Suggestion;
}

/** What is to be deployed: the work tree, or a bundle and what it says about its commit. */
export type GuardedSource =
  | {readonly kind: 'tree'; readonly buildDirectory: string}
  | {readonly kind: 'bundle'; readonly name: string; readonly recorded: RecordedCommit | undefined};

/** A deployment to be checked. */
export interface GuardedDeployment {
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

/**
 * Checks every guard that is on. Those that need the network are checked even if others refuse already, so that one
 * error names all of them.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED` with a failure for each guard that refuses.
 */
export async function checkGuards(deployment: GuardedDeployment, options: Options, host: Host): Promise<void> {
  const {guard = {}, confirmTarget} = options;
  const active = activeGuards(guard);
  const directory = resolve(host.cwd, options.cwd ?? '.', options.projectDirectory ?? '.');
  const tree = active.some((name) => name !== 'ciOnly' && name !== 'confirm')
    ? await readWorkTree(directory, host.env)
    : undefined;
  const checking = {deployment, guard, directory, tree, host};
  const failures = [
    ...(active.includes('cleanTree') ? await checkCleanTree(checking) : []),
    ...(active.includes('branch') ? checkBranch(checking) : []),
    ...(active.includes('origin') ? checkOrigin(checking) : []),
    ...(active.includes('ciOnly') ? checkCi(checking) : []),
    ...(active.includes('confirm') && confirmTarget === undefined ? [nobodyToAsk(checking)] : []),
    ...(active.includes('notOlder') ? await checkNotOlder(checking) : []),
  ];
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

const nouns = {push: 'push', deploy: 'deployment', promote: 'promotion', rollback: 'rollback'} as const;

function guardRefusal({operation, targetSlug}: TargetConfirmation, failures: readonly GuardFailure[]): Error {
  const sentences = [...new Set(failures.map(({message}) => message))].join(' ');
  const refuse = failures.length === 1 ? 'A guard refuses' : `${String(failures.length)} guards refuse`;
  return createError('ERR_GUARD_REFUSED', `${refuse} this ${nouns[operation]} to ${targetSlug}. ${sentences}`, {
    suggestions: [...new Set(failures.map(({suggestion}) => suggestion))],
    details: {targetSlug, failures: failures.map(({guard, message}) => ({guard, message}))},
  });
}

interface Checking {
  readonly deployment: GuardedDeployment;
  readonly guard: GuardRules;
  /** Absolute. */
  readonly directory: string;
  readonly tree: WorkTree | undefined;
  readonly host: Host;
}

/** How many of the changed files an error names. */
const shownFiles = 5;

async function checkCleanTree(checking: Checking): Promise<readonly GuardFailure[]> {
  const {deployment, directory, host} = checking;
  const {source} = deployment;
  const guard = 'cleanTree';
  if (source.kind === 'bundle') {
    if (source.recorded === undefined) return [unknownCommit(guard, source.name)];
    if (!source.recorded.dirty) return [];
    const suggestion = 'Commit the changes and push a bundle of that commit.';
    return [{guard, message: `${source.name} was built with uncommitted changes.`, suggestion}];
  }
  const without = [resolve(directory, source.buildDirectory), ...(host.ownFiles ?? [])];
  const files = await changedFiles(directory, without, host.env);
  if (files === undefined) return [noRepository(guard, directory)];
  if (files.length === 0) return [];
  const more = files.length > shownFiles ? ` and ${String(files.length - shownFiles)} more` : '';
  const message = `Not everything is committed: ${files.slice(0, shownFiles).join(', ')}${more}.`;
  return [{guard, message, suggestion: 'Commit the files, stash them with git stash -u, or add them to .gitignore.'}];
}

function checkBranch({deployment, guard: {branch: patterns = []}, directory, tree, host}: Checking): GuardFailure[] {
  const {source} = deployment;
  const guard = 'branch';
  const allowed = `Allowed: ${patterns.join(', ')}.`;
  if (source.kind === 'bundle' && source.recorded === undefined) return [unknownCommit(guard, source.name)];
  if (source.kind === 'tree' && tree === undefined) return [noRepository(guard, directory)];
  const branch = source.kind === 'bundle' ? source.recorded?.branch : branchOf(tree, host);
  if (branch === undefined) {
    return source.kind === 'bundle'
      ? [
          {
            guard,
            message: `${source.name} does not say on which branch it was built. ${allowed}`,
            suggestion: 'Push it again from a branch.',
          },
        ]
      : [
          {
            guard,
            message: `No branch is checked out. ${allowed}`,
            suggestion:
              ciRunOf(host.env) === undefined
                ? 'Check out a branch: git switch BRANCH.'
                : 'Deploy from a build of a branch: builds of pull requests and tags have none.',
          },
        ];
  }
  if (compilePatterns(patterns).matches(branch)) return [];
  const message =
    source.kind === 'bundle'
      ? `${source.name} was built on the branch ${branch}. ${allowed}`
      : `The branch ${branch} is checked out. ${allowed}`;
  return [{guard, message, suggestion: 'Merge it into an allowed branch and push from there.'}];
}

/** The branch that is checked out. CI systems often check out a commit without its branch, and name that. */
function branchOf(tree: WorkTree | undefined, {env}: Host): string | undefined {
  const run = ciRunOf(env);
  return tree?.branch ?? (run?.commit === tree?.commit ? run?.branch : undefined);
}

function checkOrigin({guard: {origin = ''}, directory, tree}: Checking): readonly GuardFailure[] {
  const guard = 'origin';
  if (tree === undefined) return [noRepository(guard, directory)];
  if (tree.origin !== undefined && remoteKey(tree.origin) === remoteKey(origin)) return [];
  const found =
    tree.origin === undefined
      ? 'has no remote named origin'
      : `is a clone of ${shownRemote(tree.origin) ?? 'a local folder'}`;
  return [
    {
      guard,
      message: `The repository must be a clone of ${shownRemote(origin) ?? origin}, but ${found}.`,
      suggestion: 'Run the command in a clone of that repository. See: git remote -v',
    },
  ];
}

function checkCi({deployment, host}: Checking): readonly GuardFailure[] {
  if (ciRunOf(host.env) !== undefined) return [];
  const {targetSlug} = deployment.confirmation;
  return [
    {
      guard: 'ciOnly',
      message: `Only CI may deploy to ${targetSlug}.`,
      suggestion: `Let CI do it. In an emergency, set targets.${targetSlug}.guard.ciOnly to false in the configuration file.`,
    },
  ];
}

function nobodyToAsk({deployment: {confirmation}, guard: {ciOnly}, host}: Checking): GuardFailure {
  const {targetSlug} = confirmation;
  if (ciRunOf(host.env) !== undefined) {
    const off = ciOnly === true ? 'Only one of ciOnly and confirm can hold: set the other to false' : 'Turn it off';
    return {
      guard: 'confirm',
      message: `A person must type "${targetSlug}" to confirm, but this is a CI run.`,
      suggestion: `${off} in targets.${targetSlug}.guard, or run the command outside CI.`,
    };
  }
  return {
    guard: 'confirm',
    message: `A person must type "${targetSlug}" to confirm, but there is no terminal to ask in.`,
    suggestion: 'Run the command in a terminal. No flag replaces the confirmation.',
  };
}

async function checkNotOlder({deployment, directory, tree, host}: Checking): Promise<readonly GuardFailure[]> {
  const {source, confirmation} = deployment;
  const guard = 'notOlder';
  if (tree === undefined) return [noRepository(guard, directory)];
  if (source.kind === 'bundle' && source.recorded === undefined) return [unknownCommit(guard, source.name)];
  const commit = source.kind === 'bundle' ? source.recorded?.commit : tree.commit;
  const {bundleId, targetSlug} = confirmation;
  for (const running of await deployment.running()) {
    // The same bundle again is not older.
    if (bundleId !== undefined && running.bundleId === bundleId) continue;
    const problem = await commitProblem({commit: commit ?? '', running, targetSlug}, directory, host.env);
    if (problem !== undefined) return [{guard, ...problem}];
  }
  return [];
}

function noRepository(guard: GuardName, directory: string): GuardFailure {
  return {
    guard,
    message: `${directory} is not in a git work tree with a commit, or git cannot be run.`,
    suggestion: 'Run the command in a clone of the repository, with git in PATH.',
  };
}

function unknownCommit(guard: GuardName, name: string): GuardFailure {
  return {
    guard,
    message: `${name} does not say which commit it was built from.`,
    suggestion: 'Push it again, without --message or with recordCommit: true in the configuration file.',
  };
}
