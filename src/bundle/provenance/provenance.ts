import type {BundleProvenance} from '../types.js';
import {ciRunOf} from './ci.js';
import {readWorkTree, type Environment, type WorkTree} from './git.js';

/** Where a bundle comes from, and the words for it. */
export interface Origin {
  /** Undefined outside git and CI. */
  readonly provenance?: BundleProvenance | undefined;
  /** The default message. */
  readonly message: string;
  /** Where the default message comes from. */
  readonly from: 'git' | 'time';
  /** The commit in the words of a default message, with the branch that CI tells; undefined outside git. */
  readonly record?: string | undefined;
}

/**
 * Where a bundle built at `directory` comes from. The default message is `<branch>: <short commit>` of the git work
 * tree there, or only the commit if no branch is checked out, plus ` (modified)` if tracked files have uncommitted
 * changes. Without git, `Build of <date>`.
 */
export async function readOrigin(directory: string, env: Environment, now: () => Date): Promise<Origin> {
  const tree = await readWorkTree(directory, env);
  const run = ciRunOf(env);
  const ci = run && {system: run.system, url: run.url};
  if (tree === undefined) {
    return {provenance: ci && {ci}, message: `Build of ${dayAndMinute(now())}`, from: 'time'};
  }
  const {commit, dirty} = tree;
  // CI systems often check out a commit without its branch.
  const branch = tree.branch ?? (run?.commit === commit ? run.branch : undefined);
  return {
    provenance: {commit, branch, dirty, ci},
    message: describeCommit(tree),
    from: 'git',
    record: describeCommit({...tree, branch}),
  };
}

/** `2026-01-02 03:04 UTC`. */
function dayAndMinute(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function describeCommit({branch, shortCommit, dirty}: Pick<WorkTree, 'branch' | 'shortCommit' | 'dirty'>): string {
  return `${branch === undefined ? '' : `${branch}: `}${shortCommit}${dirty ? modified : ''}`;
}

const modified = ' (modified)';

/** What a message says about the commit of a bundle; undefined if that is unknown. */
export function recordOf({branch, commit, dirty = false}: BundleProvenance): string | undefined {
  return commit === undefined
    ? undefined
    : describeCommit({branch, shortCommit: commit.slice(0, recordedDigits), dirty});
}

/** How many digits of a hash tell commits apart in any repository. */
const recordedDigits = 12;

/** A message with the commit after it, where `recordedCommit` finds it: `Release 5 [main: 1a2b3c4]`. */
export function withRecord(message: string, record: string | undefined): string {
  if (record === undefined || saysTheSame(recordedCommit(message), recordedCommit(record))) return message;
  return `${message} [${record}]`;
}

/** Whether both are about the same commit, one perhaps with more digits. */
function saysTheSame(one: RecordedCommit | undefined, other: RecordedCommit | undefined): boolean {
  if (one === undefined || other === undefined || one.branch !== other.branch || one.dirty !== other.dirty)
    return false;
  return one.commit.startsWith(other.commit) || other.commit.startsWith(one.commit);
}

/** What a message says about the commit of its bundle. */
export interface RecordedCommit {
  readonly branch?: string | undefined;
  /** Full or short hash. */
  readonly commit: string;
  readonly dirty: boolean;
}

/** The commit that a message names: a default message does, and one that ends with such a message in brackets. */
export function recordedCommit(message: string): RecordedCommit | undefined {
  const inner = /\[([^[\]]+)\]$/.exec(message.trim())?.[1] ?? message.trim();
  const found = /^(?:(?<branch>\S+): )?(?<commit>[0-9a-f]{7,64})(?<modified> \(modified\))?$/.exec(inner)?.groups;
  const {branch, commit} = found ?? {};
  // A number alone is rather a date or a build than a commit.
  const isNumber = branch === undefined && commit !== undefined && /^\d{1,11}$/.test(commit);
  return commit === undefined || isNumber ? undefined : {branch, commit, dirty: found?.['modified'] !== undefined};
}
