import {setImmediate as nextTurn} from 'node:timers/promises';
import {compilePatterns, unmatchedPatterns} from '../../../bundle/index.js';
import {isRuntimeCliError} from '../../../errors/index.js';
import {HttpFailure} from '../http-failure.js';

/** How long others may have to wait for their turn. */
const turnMilliseconds = 20;
/** How long matching may take in all. Patterns that are no attack take milliseconds. */
const maxMilliseconds = 20_000;

/** What patterns were found to match. */
export interface MatchedFiles {
  readonly files: readonly string[];
  /** The patterns that match nothing. */
  readonly unmatched: readonly string[];
}

/**
 * Matches patterns that a client has sent, a little at a time: the server goes on answering others meanwhile.
 * @throws HttpFailure 422 for patterns that cannot be used or take too long.
 */
export async function matchFiles(patterns: readonly string[], paths: readonly string[]): Promise<MatchedFiles> {
  const turns = new Turns();
  try {
    const files: string[] = [];
    const all = compilePatterns(patterns);
    for (const path of paths) {
      if (turns.isOver) await turns.pass();
      if (all.matches(path)) files.push(path);
    }
    const unmatched: string[] = [];
    for (const pattern of patterns) {
      // An exclusion matches nothing by itself and is not looked for: it is never among them.
      if (unmatchedPatterns([pattern], []).length === 0) continue;
      const {matches} = compilePatterns([pattern]);
      let isFound = false;
      for (const path of paths) {
        if (turns.isOver) await turns.pass();
        isFound = matches(path);
        if (isFound) break;
      }
      if (!isFound) unmatched.push(pattern);
    }
    return {files, unmatched};
  } catch (error) {
    if (isRuntimeCliError(error) && error.code === 'ERR_PATTERN_INVALID')
      throw new HttpFailure(422, `${error.message}.`);
    throw error;
  }
}

/** Time on the one thread, in small portions. */
class Turns {
  #ends = performance.now() + turnMilliseconds;
  #used = 0;

  get isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  async pass(): Promise<void> {
    this.#used += performance.now() - (this.#ends - turnMilliseconds);
    if (this.#used > maxMilliseconds) {
      throw new HttpFailure(422, 'The patterns take too long to match against all files of the archive.');
    }
    await nextTurn();
    this.#ends = performance.now() + turnMilliseconds;
  }
}
