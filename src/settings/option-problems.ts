import * as v from 'valibot';
import {createError, type RuntimeCliError} from '../errors/index.js';
import {asSentence} from '../errors/sentence.js';
import {definitions, type SettingKey} from './definitions.js';
import {fieldProblems, slug} from './schemas.js';

/** A problem with an option. */
export interface OptionProblem {
  /** Name of the option. */
  readonly option: string;
  /** One sentence without the option's name: `must not be empty`. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestion?: string | undefined;
}

/** What is wrong with the options that settings of these names describe. Those that are not given are fine. */
export function optionProblems(
  options: {readonly [K in SettingKey]?: unknown},
  keys: readonly SettingKey[],
): readonly OptionProblem[] {
  return keys.flatMap((option) => {
    const {schema, advice: suggestion} = definitions[option];
    const found = options[option] === undefined ? [] : problemsOf(option, options[option], schema);
    return suggestion === undefined ? found : found.map((problem) => ({...problem, suggestion}));
  });
}

/** The problem with a slug, if any. Slugs become parts of URLs and prefixes in archives. */
export function checkSlug(option: string, value: string): OptionProblem | undefined {
  return problemsOf(option, value, slug)[0];
}

function problemsOf(option: string, value: unknown, schema: v.GenericSchema): readonly OptionProblem[] {
  const {issues = []} = v.safeParse(schema, value);
  return fieldProblems(issues).map(({field, message}) => ({
    option: field === '' ? option : `${option}.${field}`,
    message,
  }));
}

/**
 * The error for invalid options, with all problems in one sentence: `ERR_PATTERN_INVALID` if only patterns are invalid,
 * else `ERR_OPTION_INVALID`.
 */
export function optionProblemsError(problems: readonly OptionProblem[]): RuntimeCliError {
  const onlyPatterns = problems.every(({option}) => /^ssr(?:Only|Shared)\b/.test(option));
  return createError(
    onlyPatterns ? 'ERR_PATTERN_INVALID' : 'ERR_OPTION_INVALID',
    asSentence(problems.map(({option, message}) => `${option} ${message}`).join('; ')),
    {
      suggestions: problems.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
      details: {problems},
    },
  );
}
