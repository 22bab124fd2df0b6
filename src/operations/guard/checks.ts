import {resolve} from 'node:path';
import {compilePatterns} from '../../bundle/index.js';
import {ciRunOf} from '../../bundle/provenance/ci.js';
import {branchOf, type RecordedCommit} from '../../bundle/provenance/provenance.js';
import {changedFiles, remoteOrigin, type WorkTree} from '../../bundle/provenance/git.js';
import {listPaths} from '../../text/entry-names.js';
import type {Host} from '../host.js';
import type {GuardOptions, GuardRules, TargetConfirmation} from '../options.js';
import {remoteKey, shownRemote} from './remotes.js';
import {commitProblem, type Problem, type RunningBundle} from './running-commit.js';

export type GuardName = keyof GuardRules;

/** What is to be deployed: the work tree, or a bundle and what it says about its commit. */
export type GuardedSource =
  | {readonly kind: 'tree'; readonly buildDirectory: string}
  | {readonly kind: 'bundle'; readonly name: string; readonly recorded: RecordedCommit | undefined};

export interface GuardedDeployment {
  readonly confirmation: TargetConfirmation;
  readonly source: GuardedSource;
  /** What the target runs and gets, for `notOlder`. Rejects if that cannot be found out. */
  readonly running: () => Promise<readonly RunningBundle[]>;
}

interface GuardRow {
  readonly check: (checking: Checking) => Outcome | Promise<Outcome>;
  /** Whether it is about the work tree, or about the commit of a bundle. */
  readonly ofSource?: true;
  /** Whether it compares with the clone, whatever is deployed. */
  readonly ofClone?: true;
}

/** In the order in which they are checked. `notOlder` asks the service, so it is the last. */
export const guardChecks: Readonly<Record<GuardName, GuardRow>> = {
  cleanTree: {check: checkCleanTree, ofSource: true},
  branch: {check: checkBranch, ofSource: true},
  origin: {check: checkOrigin, ofClone: true},
  ciOnly: {check: checkCi},
  confirm: {check: checkConfirm},
  notOlder: {check: checkNotOlder, ofSource: true, ofClone: true},
};

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
  const message = `There are uncommitted changes: ${listPaths(files, shownFiles)}.`;
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
  const branch = branchOf(tree, run);
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

async function checkOrigin({guard: {origin = ''}, directory, tree, host}: Checking): Promise<Outcome> {
  if (tree === undefined) return noRepository(directory);
  const remote = await remoteOrigin(directory, host.env);
  if (remote !== undefined && remoteKey(remote) === remoteKey(origin)) return undefined;
  const found =
    remote === undefined ? 'has no remote named origin' : `is a clone of ${shownRemote(remote) ?? 'a local folder'}`;
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

function checkConfirm({deployment, guard: {ciOnly}, confirmTarget, host}: Checking): Outcome {
  if (confirmTarget !== undefined) return undefined;
  const {targetSlug} = deployment.confirmation;
  const message = `A person must type "${targetSlug}" to confirm, but`;
  if (ciRunOf(host.env) === undefined) {
    const suggestion = 'Run the command in a terminal. No flag replaces the confirmation.';
    return {message: `${message} there is no terminal to ask in.`, suggestion};
  }
  const off = ciOnly === true ? "ciOnly and confirm can't both be on: set one of them to false" : 'Turn it off';
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
    const deployed = {commit: commit ?? '', bundleId, running: one, targetSlug};
    const problem = await commitProblem(deployed, directory, host.env);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function noRepository(directory: string): Problem {
  return {
    message: `${directory} is not in a git work tree with a commit, or git cannot be run.`,
    suggestion: 'Make a first commit, or run the command in a clone of the repository, with git in PATH.',
  };
}

function unknownCommit(name: string): Problem {
  return {
    message: `${name} does not say which commit it was built from.`,
    suggestion: 'Push it again, without --message or with recordCommit: true in the configuration file.',
  };
}
