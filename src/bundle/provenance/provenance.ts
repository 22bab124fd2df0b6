import {isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import type {BundleProvenance} from '../types.js';
import {ciRunOf, type CiRun} from './ci.js';
import type {Environment} from '../../text/platform.js';
import {readWorkTree, type WorkTree} from './git.js';

/** Where a bundle comes from, and the words for it. */
export interface Origin {
  /** Undefined outside git and CI. */
  readonly provenance?: BundleProvenance | undefined;
  /** The default message. */
  readonly message: string;
  /** Where the default message comes from. */
  readonly from: 'git' | 'time';
  /** Why git tells nothing about a work tree, if it does not. */
  readonly refusal?: RuntimeCliError | undefined;
}

/** Where a bundle built at `directory` comes from. Default message: `main: 1a2b3c (modified)` or `Build of <date>`. */
export async function readOrigin(directory: string, env: Environment, now: () => Date): Promise<Origin> {
  const tree = await readWorkTree(directory, env).catch((error: unknown) => {
    if (isRuntimeCliError(error)) return error;
    throw error;
  });
  const run = ciRunOf(env);
  const ci = run && {system: run.system, url: run.url};
  if (tree === undefined || isRuntimeCliError(tree)) {
    return {provenance: ci && {ci}, message: `Build of ${toTheSecond(now())}`, from: 'time', refusal: tree};
  }
  const {commit, dirty} = tree;
  return {
    provenance: {commit, branch: branchOf(tree, run), dirty, ci},
    message: describeCommit(tree),
    from: 'git',
  };
}

/** The branch of a work tree. CI systems often check out a commit without it, and name that. */
export function branchOf({branch, commit}: WorkTree, run: CiRun | undefined): string | undefined {
  return branch ?? (run?.commit === commit ? run.branch : undefined);
}

/** `2026-01-02 03:04:05 UTC`. */
function toTheSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** How many digits of a hash are shown. They tell commits apart in any repository, unlike those of `core.abbrev`. */
const shownDigits = 12;

function describeCommit({branch, commit, dirty}: RecordedCommit): string {
  return inWords({branch, commit: commit.slice(0, shownDigits), dirty});
}

function inWords({branch, commit, dirty}: RecordedCommit): string {
  return `${branch === undefined ? '' : `${branch}: `}${commit}${dirty ? ' (modified)' : ''}`;
}

/** The default message of what comes from a commit, with the branch that CI tells; undefined if that is unknown. */
export function messageFor({branch, commit, dirty = false}: BundleProvenance): string | undefined {
  return commit === undefined ? undefined : describeCommit({branch, commit, dirty});
}

/** A message with the whole commit after it, where `recordedCommit` finds it: `Release 5 [main: 1a2b3c4...]`. */
export function withRecord(message: string, {branch, commit, dirty = false}: BundleProvenance = {}): string {
  if (commit === undefined || saysTheSame(recordedCommit(message), {branch, commit, dirty})) return message;
  return `${message} [${inWords({branch, commit, dirty})}]`;
}

/** Whether both are about the same commit, one perhaps with more digits. */
function saysTheSame(one: RecordedCommit | undefined, other: RecordedCommit): boolean {
  return one?.branch === other.branch && one?.dirty === other.dirty && other.commit.startsWith(one.commit);
}

/** `preview-cart-1a2b3c4d: Fix`, or, so that `recordedCommit` finds it, `preview-cart-1a2b3c4d [cart: 1a2b3c4]`. */
export function withPreview(message: string, preview: string | undefined): string {
  if (preview === undefined) return message;
  const isCommit = recordedCommit(message) !== undefined && !message.endsWith(']');
  return isCommit ? `${preview} [${message}]` : `${preview}: ${message}`;
}

/** The preview that a bundle with such a message was uploaded for, if it was. */
export function previewIn(message: string | undefined): string | undefined {
  return /^(preview-[a-z0-9-]+-[0-9a-f]{8}|preview-[0-9a-f]{8})(?:: | \[)/.exec(message ?? '')?.[1];
}

/** What a message says about the commit of its bundle. The hash may be short. */
export type RecordedCommit = WorkTree;

/** The commit that a message names: a default message does, and one that ends with such a message in brackets. */
export function recordedCommit(message: string): RecordedCommit | undefined {
  const inner = /\[([^[\]]+)\]$/.exec(message.trim())?.[1] ?? message.trim();
  const found = /^(?:(?<branch>\S+): )?(?<commit>[0-9a-f]{7,64})(?<modified> \(modified\))?$/.exec(inner)?.groups;
  const {branch, commit} = found ?? {};
  // A number alone is rather a date or a build than a commit.
  const isNumber = branch === undefined && commit !== undefined && /^\d{1,11}$/.test(commit);
  return commit === undefined || isNumber ? undefined : {branch, commit, dirty: found?.['modified'] !== undefined};
}
