import {countMatches, isExclusion, markFiles, type PatternLists} from '../../../bundle/index.js';
import {isRuntimeCliError} from '../../../errors/index.js';
import {HttpFailure} from '../http-failure.js';

/** What the patterns of a list were found to match. */
export interface MatchedFiles {
  readonly files: readonly string[];
  /** The patterns that match nothing. */
  readonly unmatched: readonly string[];
}

/**
 * Matches patterns that a client has sent; the server goes on answering others meanwhile.
 * @throws HttpFailure 422 for patterns that cannot be used or take too long.
 */
export async function matchFiles(
  patterns: PatternLists,
  paths: readonly string[],
): Promise<Readonly<Record<keyof PatternLists, MatchedFiles>>> {
  try {
    const files = paths.map((path) => ({path, ssrOnly: false, ssrShared: false}));
    await markFiles(files, patterns);
    const counts = await countMatches(patterns, paths);
    const matched = (setting: keyof PatternLists): MatchedFiles => ({
      files: files.filter((file) => file[setting]).map(({path}) => path),
      unmatched: patterns[setting].filter((pattern, index) => counts[setting][index] === 0 && !isExclusion(pattern)),
    });
    return {ssrOnly: matched('ssrOnly'), ssrShared: matched('ssrShared')};
  } catch (error) {
    if (isRuntimeCliError(error) && error.code === 'ERR_PATTERN_INVALID')
      throw new HttpFailure(422, `${error.message}.`);
    throw error;
  }
}
